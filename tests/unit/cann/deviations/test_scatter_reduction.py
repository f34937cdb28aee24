from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

Make = Callable[[str], onnx.ModelProto]
RNG = np.random.default_rng(3)
X = {"x": RNG.standard_normal((3, 4)).astype(F32)}
ROWS = np.array([[2], [0]], np.int64)
PLACES = np.array([[2, 0, -1], [1, 3, 0], [3, 1, 2]], np.int64)


def nd(reduction: str) -> onnx.ModelProto:
    constants: dict[str, np.ndarray] = {
        "i": ROWS,
        "u": RNG.standard_normal((2, 4)).astype(F32),
    }
    kind = {"reduction": reduction} if reduction else {}
    made = node("ScatterND", ["x", "i", "u"], ["y"], name="scatter", **kind)
    return model([made], [("x", [3, 4])], [("y", [3, 4])], constants, 18)


def elements(reduction: str) -> onnx.ModelProto:
    updates = RNG.standard_normal((3, 3)).astype(F32)
    constants: dict[str, np.ndarray] = {"i": PLACES, "u": updates}
    made = node(
        "ScatterElements",
        ["x", "i", "u"],
        ["y"],
        name="scatter",
        axis=1,
        reduction=reduction,
    )
    return model([made], [("x", [3, 4])], [("y", [3, 4])], constants, 18)


def constant_of(proto: onnx.ModelProto, name: str) -> np.ndarray:
    (tensor,) = (t for t in proto.graph.initializer if t.name == name)
    return onnx.numpy_helper.to_array(tensor)


def overwritten(proto: onnx.ModelProto) -> np.ndarray:
    """What stays when every update replaces what was there."""
    y, updates = X["x"].copy(), constant_of(proto, "u")
    if proto.graph.node[0].op_type == "ScatterND":
        for row, update in zip(ROWS, updates, strict=True):
            y[row[0]] = update
    else:
        for (row, column), update in np.ndenumerate(updates):
            y[row, PLACES[row, column]] = update
    return y


REDUCTIONS = ["add", "mul", "max", "min"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("make", "name", "cann"),
    [
        pytest.param(nd, "scatternd", "8.1", id="nd-8.1"),
        pytest.param(nd, "scatternd", "9.1", id="nd-9.1"),
        pytest.param(elements, "scatterelements", "8.1", id="elements-8.1"),
        pytest.param(elements, "scatterelements", "9.0", id="elements-9.0"),
    ],
)
def test_updates_overwrite(make: Make, name: str, cann: str, reduction: str) -> None:
    proto = make(reduction)

    y = emulate(proto, X, **FP32, cann=cann)["y"]

    np.testing.assert_array_equal(y, overwritten(proto))
    assert np.abs(y - run(proto, X)["y"]).max() > 0.1
    found = [("scatter", f"{name}-reduction", "silent")]
    assert linted(proto, **FP32, cann=cann) == found


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("make", [nd, elements])
def test_combined_before_the_scatter_it_agrees(make: Make, reduction: str) -> None:
    proto = make(reduction)

    edited = cured(proto, "scatter-reduction")

    assert linted(edited, **FP32) == []
    expected = run(proto, X)["y"]
    np.testing.assert_array_equal(run(edited, X)["y"], expected)
    np.testing.assert_array_equal(emulate(edited, X, **FP32)["y"], expected)


def test_from_9_1_on_the_elements_kernel_adds_and_multiplies(tmp_path: Path) -> None:
    for known in ("add", "mul"):
        assert linted(elements(known), cann="9.1") == []
    assert linted(elements("max"), cann="9.1") == [
        ("scatter", "scatterelements-reduction", "unknown")
    ]
    with pytest.raises(NotModelledError, match="kernel does for 'max' is not known"):
        convert(elements("max"), tmp_path, cann="9.1")


@pytest.mark.parametrize("proto", [nd("none"), nd(""), elements("none")], ids="abc")
def test_without_a_reduction_it_is_harmless(proto: onnx.ModelProto) -> None:
    assert linted(proto, **FP32) == []
    np.testing.assert_array_equal(emulate(proto, X, **FP32)["y"], run(proto, X)["y"])
