from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError
from ascendflow.graph.ingest import accept
from ascendflow.graph.refusals import why_refused
from ascendflow.tensors import TensorSpec
from tests.models import model, node, run

if TYPE_CHECKING:
    from collections.abc import Sequence

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64
TOLD = "node 'loop' (Loop) never ends: it has no trip count, and its condition stays true"


def looped(
    inputs: Sequence[str],
    condition: Sequence[onnx.NodeProto],
    constants: dict[str, Any] | None = None,
) -> onnx.ModelProto:
    """Double x until `condition`, nodes that make "on" of "go" and "w", gives false."""
    body = helper.make_graph(
        [node("Add", ["v", "v"], ["w"]), *condition],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, []),
            helper.make_tensor_value_info("go", BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("on", BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [1]),
        ],
    )
    made = node("Loop", inputs, ["y"], name="loop", body=body)
    arrays = {name: np.array(value) for name, value in (constants or {}).items()}
    return model([made], [("x", [1])], [("y", [1])], arrays)


PASSED_ON = [node("Identity", ["go"], ["again"]), node("Identity", ["again"], ["on"])]
ALWAYS = [
    node("Constant", [], ["on"], value=helper.make_tensor("t", BOOL, [], [True])),
]
SMALL = [
    node("ReduceSum", ["w"], ["s"], keepdims=0),
    node("Less", ["s", "most"], ["on"]),
]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(looped(["", "", "x"], PASSED_ON), id="no-condition"),
        pytest.param(looped(["", "yes", "x"], PASSED_ON, {"yes": True}), id="true"),
        pytest.param(looped(["", "", "x"], ALWAYS), id="made-inside"),
    ],
)
def test_a_loop_whose_condition_stays_true_is_refused(proto: onnx.ModelProto) -> None:
    assert list(why_refused(proto)) == [TOLD]
    specs = [TensorSpec("x", "float32", (1,))]
    with pytest.raises(StageError, match="never ends"):
        accept(proto, "m.onnx", specs, None)


HOURS = 10**12


def counted(times: int | list[int]) -> onnx.ModelProto:
    return looped(["n", "", "x"], PASSED_ON, {"n": times})


def counted_by_attribute(times: int) -> onnx.ModelProto:
    proto = counted(times)
    del proto.graph.initializer[:]
    proto.graph.node.insert(0, node("Constant", [], ["n"], value_int=times))
    return proto


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(counted(HOURS), id="initializer"),
        pytest.param(counted([HOURS]), id="of-one-dimension"),
        pytest.param(counted_by_attribute(HOURS), id="attribute"),
    ],
)
def test_a_loop_of_more_steps_than_anyone_waits_for_is_refused(
    proto: onnx.ModelProto,
) -> None:
    (told,) = why_refused(proto)

    assert told.startswith("node 'loop' (Loop) does not end: it has 1000000000000 steps")


def test_a_count_that_is_no_bound_is_no_reason_to_refuse_what_ends() -> None:
    """PyTorch writes `while` with the largest number there is for its count."""
    largest = {"n": np.iinfo(np.int64).max, "most": np.float32(10)}
    proto = looped(["n", "", "x"], SMALL, largest)

    assert list(why_refused(proto)) == []
    assert run(proto, {"x": np.ones(1, np.float32)})["y"].tolist() == [16.0]


@pytest.mark.parametrize(
    ("proto", "doubled"),
    [
        pytest.param(looped(["n", "", "x"], PASSED_ON, {"n": 3}), 3, id="counted"),
        pytest.param(looped(["", "no", "x"], PASSED_ON, {"no": False}), 0, id="false"),
        pytest.param(
            looped(["", "", "x"], SMALL, {"most": np.float32(10)}), 4, id="computed"
        ),
    ],
)
def test_a_loop_that_ends_is_not(proto: onnx.ModelProto, doubled: int) -> None:
    assert list(why_refused(proto)) == []
    assert run(proto, {"x": np.ones(1, np.float32)})["y"].tolist() == [2.0**doubled]


@pytest.mark.parametrize("others", [np.int64(1 << 40), np.bool_(True)])
def test_constant_of_a_branch_is_not_taken_for_a_tensor_of_its_name_in_another(
    others: np.generic,
) -> None:
    """Each branch names its own tensors; so does PyTorch's exporter, from 0 on."""
    large = onnx.numpy_helper.from_array(np.asarray(others))
    then = helper.make_graph(
        [
            node("Constant", [], ["n"], value=large),
            node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
            node("Mul", ["x", "f"], ["t"]),
        ],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, [1])],
    )
    counted = isinstance(others, np.int64)
    inputs = ["n", "", "x"] if counted else ["", "n", "x"]
    loop = looped(inputs, PASSED_ON, {"n": others}).graph.node[0]
    kind = INT64 if counted else BOOL
    otherwise = helper.make_graph(
        [node("Cast", ["x"], ["c"], to=kind), node("Squeeze", ["c"], ["n"]), loop],
        "otherwise",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    branch = node("If", ["p"], ["z"], then_branch=then, else_branch=otherwise)
    proto = model([branch], [("x", [1]), ("p", [], BOOL)], [("z", [1])])
    onnx.checker.check_model(proto, full_check=True)

    assert list(why_refused(proto)) == []
