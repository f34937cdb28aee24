"""Rules for indices, axes and pads: what they skip, and any case against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto

from ascendflow.graph.rule import Skipped
from ascendflow.graph.rules import RULES
from tests.emulation import cured
from tests.models import F32, model, node, run

BY_NAME = {rule.name: rule for rule in RULES}
INT64 = TensorProto.INT64
Made = onnx.ModelProto
Shape = tuple[int | str, ...]


def one(
    op_type: str,
    constants: dict[str, Any],
    shape: Shape = (2, 3, 4),
    *,
    fed: dict[str, Shape] | None = None,
    opset: int = 18,
    rank: int = 3,
    **attributes: Any,
) -> Made:
    """Make y = op_type(x, the constants, what is fed), named n."""
    numbers = {
        name: array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        for name, array in constants.items()
    }
    named = ["x", *numbers, *(fed or {})]
    made = node(op_type, named, ["y"], name="n", **attributes)
    inputs: list[Any] = [("x", shape), *((n, s, INT64) for n, s in (fed or {}).items())]
    dtype = INT64 if op_type.startswith("Arg") else TensorProto.FLOAT
    outputs: list[Any] = [("y", [f"y{axis}" for axis in range(rank)], dtype)]
    return model([made], inputs, outputs, numbers, opset)


@pytest.mark.parametrize(
    ("rule", "proto", "reason"),
    [
        ("pad-all-axes", one("Pad", {"p": [1] * 6}), "no input axes"),
        (
            "pad-all-axes",
            one("Pad", {"p": [1, 1], "v": np.array(0, F32)}, fed={"a": (1,)}),
            "axes are computed",
        ),
        ("gather-non-negative", one("Gather", {"i": [0, 1]}), "no index is negative"),
        ("gather-non-negative", one("Gather", {}, fed={"i": (2,)}), "are computed"),
        (
            "gather-non-negative",
            one("Gather", {"i": [-1]}, ("N", 3, 4)),
            "length of axis 0 is not fixed",
        ),
        (
            "gathernd-flatten",
            one("GatherND", {"i": [[0, 1, 2]]}, rank=1),
            "batch_dims is 0",
        ),
        (
            "gathernd-flatten",
            one("GatherND", {}, fed={"i": (2, "k", 1)}, batch_dims=1),
            "indices is not fixed",
        ),
        ("arg-last-index", one("ArgMax", {}), "select_last_index is 0"),
        (
            "arg-last-index",
            one("ArgMax", {}, ("N", 3, 4), select_last_index=1),
            "length of axis 0 is not fixed",
        ),
        ("empty-slice", one("Concat", {}, axis=0), "none of its parts"),
        ("indices-to-int64", one("ArgMax", {}), None),
    ],
)
def test_what_it_cannot_be_sure_of_is_skipped(
    rule: str, proto: Made, reason: str | None
) -> None:
    inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    (found,) = BY_NAME[rule](ir.from_proto(inferred))

    assert isinstance(found, Skipped) == (reason is not None)
    if isinstance(found, Skipped):
        assert reason is not None
        assert reason in found.reason


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        pytest.param([node("Cast", ["i"], ["c"], to=1)], "are cast already", id="cast"),
        pytest.param([], "unused", id="unused"),
        pytest.param(
            [node("Cast", ["i"], ["c"], to=1), node("Add", ["i", "i"], ["d"])],
            None,
            id="read-otherwise-too",
        ),
    ],
)
def test_indices_that_are_only_cast_need_no_cast(
    nodes: list[onnx.NodeProto], reason: str | None
) -> None:
    made = node("TopK", ["x", "k"], ["v", "i"], name="n")
    constants = {"k": np.array([2])}
    proto = model([made, *nodes], [("x", [3])], [("v", [2])], constants)

    (found,) = BY_NAME["indices-to-int64"](ir.from_proto(proto))

    assert isinstance(found, Skipped) == (reason is not None)
    if isinstance(found, Skipped):
        assert reason is not None
        assert reason in found.reason


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        pytest.param([[0], [0]], "name a place twice", id="twice"),
        pytest.param([[1], [-1]], "name a place twice", id="twice-once-from-the-end"),
        pytest.param([[0], [-2]], "name a place twice", id="the-first-twice"),
        pytest.param(None, "computed", id="computed"),
    ],
)
def test_updates_that_may_meet_are_not_taken_apart(indices: Any, reason: str) -> None:
    made = node("ScatterND", ["x", "i", "u"], ["y"], name="n", reduction="add")
    constants = {"u": np.ones((2, 3), F32)}
    inputs: list[Any] = [("x", [2, 3])]
    if indices is None:
        inputs.append(("i", [2, 1], INT64))
    else:
        constants["i"] = np.array(indices, np.int64)
    proto = model([made], inputs, [("y", [2, 3])], constants, 18)

    (found,) = BY_NAME["scatter-reduction"](ir.from_proto(proto))

    assert isinstance(found, Skipped)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("op_type", "indices", "is_taken"),
    [
        pytest.param("ScatterND", [[0, 1], [0, 2]], True, id="one-row"),
        pytest.param("ScatterND", [[0, 1], [0, -2]], False, id="one-place"),
        # without an axis it is the first: the 0 of each row names the first column's
        pytest.param("ScatterElements", [[0, 1], [0, 0]], False, id="one-column"),
        pytest.param("ScatterElements", [[0, 1], [1, 0]], True, id="both-rows"),
    ],
)
def test_a_place_is_what_all_its_indices_name(
    op_type: str, indices: list[list[int]], *, is_taken: bool
) -> None:
    made = node(op_type, ["x", "i", "u"], ["y"], name="n", reduction="add")
    constants: dict[str, np.ndarray] = {
        "i": np.array(indices, np.int64),
        "u": np.ones(2 if op_type == "ScatterND" else (2, 2), F32),
    }
    proto = model([made], [("x", [2, 3])], [("y", [2, 3])], constants, 18)

    (found,) = BY_NAME["scatter-reduction"](ir.from_proto(proto))

    assert isinstance(found, Skipped) != is_taken


def arg(rng: np.random.Generator) -> Made:
    axis, keepdims = int(rng.integers(-3, 3)), int(rng.integers(0, 2))
    op_type = str(rng.choice(["ArgMax", "ArgMin"]))
    kind: Any = {"axis": axis, "keepdims": keepdims, "select_last_index": 1}
    return one(op_type, {}, rank=2 + keepdims, **kind)


def gather(rng: np.random.Generator) -> Made:
    axis = int(rng.integers(-3, 3))
    length = (2, 3, 4)[axis]
    indices = rng.integers(-length, length, tuple(rng.integers(1, 4, 2)))
    indices.flat[0] = -1
    return one("Gather", {"i": indices}, rank=4, axis=axis)


def gather_nd(rng: np.random.Generator) -> Made:
    batches = int(rng.integers(1, 3))
    depth = int(rng.integers(1, 4 - batches))
    lengths = np.array([2, 3, 4])[batches : batches + depth]
    shape = ((2,), (2, 3))[batches - 1] + (5, depth)
    indices = rng.integers(-lengths, lengths, shape)
    rank = len(shape) - 1 + 3 - batches - depth
    return one("GatherND", {"i": indices}, rank=rank, batch_dims=batches)


def pad(rng: np.random.Generator) -> Made:
    axes = rng.permutation(3)[: rng.integers(1, 3)]
    pads = rng.integers(-1, 4, 2 * len(axes))
    axes = np.where(rng.integers(0, 2, axes.shape) == 1, axes - 3, axes)
    value = np.array(rng.standard_normal(), F32)
    return one("Pad", {"p": pads, "v": value, "a": axes})


def scatter(rng: np.random.Generator) -> Made:
    axis = int(rng.integers(-3, 3))
    length = (2, 3, 4)[axis]
    order = rng.permuted(np.broadcast_to(np.arange(length), (24 // length, length)), axis=1)
    indices = np.moveaxis(order.reshape([*np.delete([2, 3, 4], axis), length]), -1, axis)
    constants = {"i": indices, "u": rng.standard_normal((2, 3, 4)).astype(F32)}
    reduction = str(rng.choice(["add", "mul", "max", "min"]))
    return one("ScatterElements", constants, axis=axis, reduction=reduction)


@pytest.mark.parametrize(
    ("rule", "make"),
    [
        ("arg-last-index", arg),
        ("gather-non-negative", gather),
        ("gathernd-flatten", gather_nd),
        ("pad-all-axes", pad),
        ("scatter-reduction", scatter),
    ],
)
def test_any_case_computes_the_same_bits(rule: str, make: Any) -> None:
    rng = np.random.default_rng(11)
    for _ in range(25):
        proto = make(rng)
        x = {"x": rng.integers(-2, 3, (2, 3, 4)).astype(F32)}  # with many equal extremes

        edited = cured(proto, rule)

        expected = run(proto, x)["y"]
        found = run(edited, x)["y"]
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
