"""Softmax before opset 13 against a numpy softmax along the one axis CANN takes.

The exceptions are those of canndev softmaxv2_onnx_fusion_pass.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, IEEE, Linted, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import onnx


def softmax(shape: Sequence[int | str], opset: int = 11, **axis: Any) -> onnx.ModelProto:
    nodes = [node("Softmax", ["x"], ["y"], name="softmax", **axis)]
    return model(nodes, [("x", shape)], [("y", shape)], opset=opset)


def along(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def data(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal(shape).astype(F32)}


def test_rank_2_along_axis_0_is_normalised_by_columns() -> None:
    proto, feeds = softmax([6, 5], axis=0), data(6, 5)

    y = emulate(proto, feeds, **FP32)["y"]

    # exp and the sum are rounded in fp32, in another order than numpy's
    np.testing.assert_allclose(y, along(feeds["x"], 0), rtol=0, atol=1e-6)
    assert np.abs(y - run(proto, feeds)["y"]).max() > 0.1


def test_an_excepted_shape_is_normalised_along_its_axis() -> None:
    proto, feeds = (
        softmax([1000, 5, 64, 64], axis=1),
        {"x": np.zeros((1000, 5, 64, 64), F32)},
    )

    y = emulate(proto, feeds, **FP32)["y"]

    # of zeros ONNX makes 1 / (5 * 64 * 64), CANN 1 / 5
    np.testing.assert_allclose(y[::100], np.full((10, 5, 64, 64), 0.2, F32), rtol=1e-6)


def test_what_the_pass_reshapes_is_computed_as_onnx_says() -> None:
    proto, feeds = softmax([3, 4, 5], axis=1), data(3, 4, 5)

    y = emulate(proto, feeds, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, feeds)["y"])


@pytest.mark.parametrize("shape", [[6, 5], [1000, 5, 64, 64], [1000, 12, 48, 48]])
def test_lint_names_the_node(shape: list[int]) -> None:
    proto = softmax(shape, axis=0)

    assert linted(proto) == [Linted("softmax", "softmax-legacy-axis", "silent")]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(softmax([6, 5], axis=1), id="last-axis"),
        pytest.param(softmax([6, 5], axis=-1), id="last-axis-from-the-end"),
        pytest.param(softmax([6, 5]), id="default-axis"),
        pytest.param(softmax([6, 5], opset=13, axis=0), id="opset-13"),
        pytest.param(softmax([2, 3, 4], axis=0), id="reshaped"),
        pytest.param(softmax([999, 5, 64, 64], axis=1), id="near-the-exception"),
        pytest.param(softmax(["N", 3, 4], axis=1), id="one-unknown-dimension"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []


@pytest.mark.parametrize(
    ("axis", "found"),
    [
        pytest.param(0, [Linted("softmax", "softmax-legacy-axis", "unknown")], id="first"),
        pytest.param(1, [], id="last-of-2-or-reshaped"),
        pytest.param(-1, [], id="last"),
    ],
)
def test_an_unknown_rank_matters_for_axis_0_only(axis: int, found: list[Linted]) -> None:
    proto = model(
        [
            node("Reshape", ["x", "shape"], ["r"]),
            node("Softmax", ["r"], ["s"], name="softmax", axis=axis),
            node("Flatten", ["s"], ["y"]),
        ],
        [("x", [6]), ("shape", ["R"], TensorProto.INT64)],
        [("y", ["a", "b"])],
        opset=11,
    )

    assert linted(proto) == found


def test_two_unknown_dimensions_on_one_side_are_not_modelled(tmp_path: Path) -> None:
    proto = softmax(["N", "M", 4], axis=1)  # N before it, M from it
    both = softmax(["N", "M", 4, 5], axis=2)
    spelled = softmax([-1, -1, 4, 5], axis=2)  # as some exporters write unknown ones

    assert linted(proto) == []
    assert linted(both) == [Linted("softmax", "softmax-legacy-axis", "unknown")]
    assert linted(spelled) == linted(both)
    with pytest.raises(NotModelledError, match=r"'softmax'.*two dimensions are unknown"):
        convert(both, tmp_path)


@pytest.mark.parametrize("config", [FP32, {"soc_version": IEEE}], ids=["fp32", "fp16"])
def test_after_the_rule_it_agrees_with_the_original(config: dict[str, str]) -> None:
    proto, feeds = softmax([6, 5], axis=0), data(6, 5)

    y = emulate(cured(proto, "softmax-legacy"), feeds, **config)["y"]

    # fp32: the same operations; fp16: input and output rounded, values are below 1
    atol = 0 if config == FP32 else 2e-3
    np.testing.assert_allclose(y, run(proto, feeds)["y"], rtol=0, atol=atol)
