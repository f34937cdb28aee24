"""Real models that others made, under every precision mode on every family of SoCs."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx
import pytest

from ascendflow.cann.precision import MODELLED as MODES
from ascendflow.cann.soc import FAMILIES, MODELLED
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.fixed_shapes import fix_shapes
from ascendflow.tensors import TensorSpec
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.node_cases.half import stored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

COMPARED = {
    "dnsmos-p808": 14,
    "ppocr-cls": 5,
    "ppocrv6-det-tiny": 5,
    "silero-vad-openvino16k": 16,
}
"""Name -> on how many of its targets nothing is refused and lint says nothing."""

SLOW = ("ppocr-cls", "ppocrv6-det-tiny")
"""Of these every second target is enough: each mode and each family is among them."""

FOUND = {
    "dnsmos-p808": set(),
    "ppocr-cls": set(),
    "ppocrv6-det-tiny": {"gelu-tanh", "resize-nearest-shape"},
    "silero-vad-openvino16k": {"name-repeated"},
}
"""Name -> what lint finds as it is published, its shapes open."""

SOCS = [next(name for name in MODELLED if MODELLED[name] == each) for each in FAMILIES]
WHERE = re.compile(r"(?:node|tensor) '.+'|precision_mode '|opset|model\.onnx")
"""What each refusal names."""


class Real(NamedTuple):
    """A model with its input, its outputs, and what rounding to fp16 does to them.

    `model` has fixed shapes, names of its own for all nodes, and no Gelu that CANN fuses:
    otherwise lint would name something on every target, and little would be compared.
    """

    name: str
    model: onnx.ModelProto
    as_published: onnx.ModelProto
    feeds: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    rounded: Mapping[str, np.ndarray]


@pytest.fixture(scope="module", params=COMPARED)
def real(request: pytest.FixtureRequest, shared: Path) -> Real:
    folder = shared / "models" / request.param
    if not folder.is_dir():
        pytest.skip(f"no such model at {folder}; ASCENDFLOW_SHARED names the material")
    published = onnx.load(folder / "model.onnx")
    feeds, expected = (
        dict(np.load(folder / f"{each}.npz")) for each in ("input", "expected")
    )
    fixed = onnx.ModelProto()
    fixed.CopyFrom(published)
    fix_shapes(fixed, [TensorSpec(k, v.dtype.name, v.shape) for k, v in feeds.items()])
    name_nodes(fixed.graph, set())
    if "gelu-tanh" in FOUND[request.param]:
        fixed = cured(fixed, "unfuse-gelu")
    rounded = run(stored(fixed), feeds)
    return Real(request.param, fixed, published, feeds, expected, rounded)


def name_nodes(graph: onnx.GraphProto, taken: set[str]) -> None:
    """Name each node whose name is another's, or empty, after its place in the model."""
    for node in graph.node:
        if node.name in taken | {""}:
            node.name = f"{node.op_type}.{len(taken)}"
        taken.add(node.name)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                name_nodes(attribute.g, taken)


def attempt(
    model: onnx.ModelProto, feeds: Mapping[str, np.ndarray], config: Mapping[str, str]
) -> dict[str, np.ndarray] | str:
    """Compile and run; returns the outputs, or what a refusal says."""
    try:
        return emulate(model, feeds, **config)
    except (NotModelledError, StageError) as error:
        return str(error)


def assert_same(found: Mapping[str, np.ndarray], real: Real) -> None:
    """Hold fp32 outputs to the published ones: sums may come in another order."""
    assert found.keys() == real.expected.keys()
    for name, expected in real.expected.items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-6 * scale)


def is_compared(real: Real, mode: str, soc: str) -> bool:
    """Hold one target to what rounding does; False where it is refused or lint objects."""
    config = {"soc_version": soc, "precision_mode": mode}
    outputs = attempt(real.model, real.feeds, config)
    if isinstance(outputs, str):
        assert WHERE.search(outputs), outputs
        return False
    assert outputs.keys() == real.expected.keys()
    if linted(real.model, **config):
        return False
    for name, expected in real.expected.items():
        found, rounded = outputs[name], real.rounded[name]
        if mode == "force_fp16":
            np.testing.assert_array_equal(found, rounded, str(config))
        # Whatever else a mode chooses, it rounds fewer tensors than all: roundings that
        # no longer cancel may double what is left, and fp32 sums come in any order.
        allowed = 2 * np.abs(rounded - expected).max() + 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=allowed, err_msg=str(config)
        )
    return True


@pytest.mark.slow
def test_what_lint_passes_differs_by_fp16_alone(real: Real) -> None:
    targets = [
        (mode, soc)
        for (row, mode), (column, soc) in product(enumerate(MODES), enumerate(SOCS))
        if real.name not in SLOW or (row + column) % 2 == 0
    ]
    compared = [target for target in targets if is_compared(real, *target)]

    assert len(compared) == COMPARED[real.name], compared


@pytest.mark.slow
@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend910_9391"])
def test_fp32_gives_what_is_published(real: Real, soc: str) -> None:
    config = FP32 | {"soc_version": soc}

    assert linted(real.model, **config) == []
    assert_same(emulate(real.model, real.feeds, **config), real)


@pytest.mark.slow
def test_as_published_it_is_refused_by_name_or_nothing_is_found(real: Real) -> None:
    outputs = attempt(real.as_published, real.feeds, FP32)
    findings = linted(real.as_published, **FP32)

    assert {each.deviation for each in findings} == FOUND[real.name]
    if not findings:
        assert not isinstance(outputs, str), outputs
        assert_same(outputs, real)
        return
    assert isinstance(outputs, str)
    named = set(re.findall(r"node '([^']+)'", outputs))
    assert named
    assert named <= {each.node for each in findings}
