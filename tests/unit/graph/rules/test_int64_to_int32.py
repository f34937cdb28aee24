from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.int64_to_int32 import Int64ToInt32
from tests.emulation import cured
from tests.models import F32, model, node, run

MAX, MIN = np.iinfo(np.int64).max, np.iinfo(np.int64).min
INT64 = TensorProto.INT64
RULE = "int64-to-int32"


def sliced(
    starts: list[int],
    ends: list[int],
    axes: list[int] | None = None,
    steps: list[int] | None = None,
    shape: tuple[int | str, ...] = (10, 7),
) -> onnx.ModelProto:
    numbers = {"s": starts, "e": ends, "a": axes, "t": steps}
    given = {k: np.array(v, np.int64) for k, v in numbers.items() if v is not None}
    names = ["x", *(name if name in given else "" for name in numbers)]
    while not names[-1]:
        names.pop()
    made = node("Slice", names, ["y"], name="n")
    return model([made], [("x", shape)], [("y", ["a", "b"])], given)


def looking_up(
    op_type: str, shape: tuple[int | str, ...] = (4, 5), **kind: Any
) -> onnx.ModelProto:
    """Make y = x at the computed indices i (int64, 2 x 5)."""
    made = node(op_type, ["x", "i"], ["y"], name="n", **kind)
    inputs: list[Any] = [("x", shape), ("i", [2, 5], INT64)]
    rank = 2 if op_type == "GatherElements" else 3
    return model([made], inputs, [("y", ["a", "b", "c"][:rank])])


def index_types(proto: onnx.ModelProto) -> set[int]:
    """Element types of all that the node called "n" reads behind its first input."""
    (made,) = (n for n in proto.graph.node if n.name == "n")
    types = {t.name: t.data_type for t in proto.graph.initializer}
    types |= {
        n.output[0]: n.attribute[0].i for n in proto.graph.node if n.op_type == "Cast"
    }
    return {types[name] for name in made.input[1:] if name in types}


X = {"x": np.random.default_rng(0).standard_normal((10, 7)).astype(F32)}


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(sliced([2], [MAX], [0]), id="to-the-end"),
        pytest.param(sliced([2, 1], [MAX, 3]), id="no-axes"),
        pytest.param(sliced([-1], [MIN], [1], [-1]), id="backwards"),
        pytest.param(sliced([MAX], [MIN], [0], [-2]), id="backwards-from-anywhere"),
        pytest.param(sliced([-MAX], [5], [-1]), id="from-anywhere"),
        pytest.param(sliced([3], [-2], [0], [2]), id="plain"),
    ],
)
def test_bounds_are_clamped_and_never_wrapped(proto: onnx.ModelProto) -> None:
    """DT02: cast carelessly, INT64_MAX becomes -1, and the last element is lost."""
    edited = cured(proto, RULE)

    assert index_types(edited) == {TensorProto.INT32}
    np.testing.assert_array_equal(run(edited, X)["y"], run(proto, X)["y"])


def test_the_end_of_dt02() -> None:
    proto = sliced([2], [MAX], [0], shape=(10, 1))
    edited = cured(proto, RULE)

    y = run(edited, {"x": np.arange(10, dtype=F32)[:, None]})["y"]

    assert y.ravel().tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    bounds = [onnx.numpy_helper.to_array(t).tolist() for t in edited.graph.initializer]
    assert [2147483647] in bounds


def test_any_bounds_slice_the_same() -> None:
    rng = np.random.default_rng(1)
    extremes = [MAX, MIN, MAX - 1, 2**31, 2**31 - 1, -(2**31), -(2**31) - 1]
    for _ in range(60):
        numbers = [*rng.integers(-12, 12, 20).tolist(), *extremes]
        start, end = (int(number) for number in rng.choice(np.array(numbers), 2))
        step = int(rng.choice([-3, -1, 1, 2]))
        proto = sliced([start], [end], [int(rng.integers(-2, 2))], [step])

        np.testing.assert_array_equal(
            run(cured(proto, RULE), X)["y"], run(proto, X)["y"], f"{start}:{end}:{step}"
        )


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(looking_up("Gather", axis=1), id="gather"),
        pytest.param(looking_up("GatherElements", axis=0), id="elements"),
    ],
)
def test_computed_indices_of_a_known_axis_are_cast(proto: onnx.ModelProto) -> None:
    indices = np.array([[0, 3, -1, 2, -4], [1, 1, 3, 0, 2]], np.int64)
    feeds: dict[str, np.ndarray] = {"x": X["x"][:4, :5], "i": indices}

    edited = cured(proto, RULE)

    assert index_types(edited) == {TensorProto.INT32}
    np.testing.assert_array_equal(run(edited, feeds)["y"], run(proto, feeds)["y"])


def constant_gather(index: int) -> onnx.ModelProto:
    made = node("Gather", ["x", "i"], ["y"], name="n", axis=0)
    constants = {"i": np.array([index], np.int64)}
    return model([made], [("x", ("N", 7))], [("y", [1, 7])], constants)


def test_constant_indices_that_fit_need_no_known_axis() -> None:
    proto, edited = constant_gather(-3), cured(constant_gather(-3), RULE)

    assert index_types(edited) == {TensorProto.INT32}
    np.testing.assert_array_equal(run(edited, X)["y"], run(proto, X)["y"])


def needing_int64(op_type: str, name: str, numbers: list[Any]) -> onnx.ModelProto:
    inputs = ["x", name, *(["u"] if op_type == "ScatterND" else [])]
    constants: dict[str, np.ndarray] = {name: np.array(numbers, np.int64)}
    constants["u"] = np.zeros((1, 7), F32)
    outputs = ["y", "i"] if op_type == "TopK" else ["y"]
    made = node(op_type, inputs, outputs, name="n")
    return model([made], [("x", [10, 7])], [("y", ["a", "b"])], constants)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (sliced([2], [MAX], [0], shape=("N", 7)), "the length of axis 0 is not fixed"),
        (sliced([2], [9], [0], [MAX]), "steps do not fit"),
        (looking_up("Gather", ("N", 5)), "computed, and the length of axis 0"),
        (constant_gather(2**31), "an index does not fit int32"),
        (needing_int64("Reshape", "shape", [7, 10]), "Reshape takes shape in int64 only"),
        (needing_int64("TopK", "k", [2]), "TopK takes k in int64 only"),
        (needing_int64("ScatterND", "indices", [[1]]), "ScatterND takes indices in int64"),
    ],
)
def test_what_cannot_be_proven_or_said_in_onnx_is_skipped(
    proto: onnx.ModelProto, reason: str
) -> None:
    """DT11: ScatterND takes int64 only, whatever CANN's kernels would like."""
    (found,) = Int64ToInt32()(ir.from_proto(onnx.shape_inference.infer_shapes(proto)))

    assert isinstance(found, Skipped)
    assert reason in found.reason


@pytest.mark.parametrize("op_type", ["Slice", "Gather", "GatherElements"])
def test_what_is_in_int32_already_is_left(op_type: str) -> None:
    is_slice = op_type == "Slice"
    made = node(op_type, ["x", "s", "e"][: 3 if is_slice else 2], ["y"], name="n")
    indices = [1] if is_slice else [[1]]
    constants = {"s": np.array(indices, np.int32), "e": np.array([3], np.int32)}
    outputs: list[Any] = [("y", ["a", "b", "c"][: 3 if op_type == "Gather" else 2])]
    proto = model([made], [("x", [10, 7])], outputs, constants)

    (found,) = Int64ToInt32()(ir.from_proto(proto))

    assert not isinstance(found, Applied)
    assert "not in int64" in found.reason
