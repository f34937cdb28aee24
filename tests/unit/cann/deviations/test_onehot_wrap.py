"""OneHot against the parser's Add and Mod, and a plain loop that sets ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.emulation import Linted, cured, emulate, linted
from tests.models import F32, model, node, run

INDICES = np.array([0, 3, 4, 9, -1, -4, -5, -8, -9], np.int64)
DEPTH = 4


def onehot(
    constants: dict[str, np.ndarray] | None = None,
    *,
    kind: int = TensorProto.INT64,
    **axis: Any,
) -> onnx.ModelProto:
    known = {"depth": np.array(DEPTH), "values": np.array([2, 7], F32)} | (constants or {})
    inputs: list[Any] = [] if "i" in known else [("i", [9], kind)]
    nodes = [node("OneHot", ["i", "depth", "values"], ["y"], name="onehot", **axis)]
    return model(nodes, inputs, [("y", ["a", "b"])], known)


def kernel(indices: np.ndarray, axis: int) -> np.ndarray:
    """Add the depth, then take C's remainder by it; a negative one sets nothing."""
    made = np.full((len(indices), DEPTH), 2, F32)
    for row, index in enumerate(indices):
        place = int(np.fmod(int(index) + DEPTH, DEPTH))
        if place >= 0:
            made[row, place] = 7
    return made if axis == -1 else made.T


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize(
    "depth", [np.array(DEPTH), np.array([DEPTH])], ids=["scalar", "list"]
)
def test_indices_out_of_range_wrap(axis: int, depth: np.ndarray) -> None:
    proto = onehot({"depth": depth}, axis=axis)

    y = emulate(proto, {"i": INDICES})["y"]

    np.testing.assert_array_equal(y, kernel(INDICES, axis))
    right = run(proto, {"i": INDICES})["y"]
    differ = (y != right).any(axis=1 if axis == -1 else 0)
    assert INDICES[differ].tolist() == [4, 9, -8]  # ONNX sets nothing for them


def test_float_indices_wrap_too() -> None:
    proto = onehot(kind=TensorProto.FLOAT)

    y = emulate(proto, {"i": INDICES.astype(F32)})["y"]

    np.testing.assert_array_equal(y, kernel(INDICES, -1))
    assert linted(proto) == [Linted("onehot", "onehot-wrap", "silent")]


def test_a_depth_that_is_computed_wraps_too() -> None:
    proto = onehot()
    proto.graph.initializer.remove(
        next(each for each in proto.graph.initializer if each.name == "depth")
    )
    depth = onnx.helper.make_tensor_value_info("depth", TensorProto.INT64, [])
    proto.graph.input.append(depth)

    y = emulate(proto, {"i": INDICES, "depth": np.array(DEPTH)})["y"]

    np.testing.assert_array_equal(y, kernel(INDICES, -1))
    assert linted(proto) == [Linted("onehot", "onehot-wrap", "silent")]


def test_constant_floats_that_are_in_range_are_harmless() -> None:
    inside = np.array([0, 1, 2, 3, -1, -2, -3, -4, 0], F32)

    assert linted(onehot({"i": inside}), "onehot-wrap") == []


@pytest.mark.parametrize("constants", [{}, {"i": INDICES}], ids=["input", "constant"])
def test_lint_names_the_node(constants: dict[str, np.ndarray]) -> None:
    assert linted(onehot(constants), "onehot-wrap") == [
        Linted("onehot", "onehot-wrap", "silent")
    ]


def test_lint_is_silent_where_indices_are_known_to_be_in_range() -> None:
    inside = np.array([0, 1, 2, 3, -1, -2, -3, -4, 0])

    assert linted(onehot({"i": inside}), "onehot-wrap") == []
    for classes, found in ((4, []), (5, [Linted("onehot", "onehot-wrap", "silent")])):
        proto = model(
            [
                node("ArgMax", ["x"], ["i"], axis=1, keepdims=0),
                node("OneHot", ["i", "depth", "values"], ["y"], name="onehot"),
            ],
            [("x", [9, classes])],
            [("y", [9, DEPTH])],
            {"depth": np.array(DEPTH), "values": np.array([0, 1], F32)},
        )
        assert linted(proto) == found


@pytest.mark.parametrize("axis", [-1, 0])
def test_after_the_rule_it_agrees_with_the_original(axis: int) -> None:
    proto = onehot(axis=axis)
    edited = cured(proto, "onehot-compare")

    y = emulate(edited, {"i": INDICES})["y"]

    np.testing.assert_array_equal(y, run(proto, {"i": INDICES})["y"])
    assert linted(edited) == []
