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
