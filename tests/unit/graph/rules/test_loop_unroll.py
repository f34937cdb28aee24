from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from ascendflow.graph.rule import Skipped
from ascendflow.graph.rules.loop_unroll import LoopUnroll
from tests.emulation import FP32, cured, emulate, linted
from tests.models import F32, model, node, run

INT64, BOOL = TensorProto.INT64, TensorProto.BOOL
X = {"x": np.array([0.5, -2, 3], F32), "bias": np.array([1, 2, 3], F32)}


def value(name: str, shape: list[int], dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def looped(
    rounds: int | None = 3,
    *,
    start: bool | None = None,
    go_on: str = "Identity",
    inner: list[Any] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """Make, for i in range(rounds): v = 0.5 * v + bias + i; all the v are collected too."""
    true = helper.make_tensor("t", BOOL, [], [1])
    going = {
        "Identity": [node("Identity", ["go"], ["on"])],
        "Constant": [node("Constant", [], ["on"], value=true)],
        "Less": [node("Less", ["i", "four"], ["on"])],
        "Input": [],
    }[go_on]
    nodes = [
        *going,
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["v", "half"], ["m"]),
        node("Add", ["m", "bias"], ["b"]),
        node("Add", ["b", "f"], ["w"]),
        *(inner or []),
        node("Identity", ["w"], ["row"]),
    ]
    constants = [
        numpy_helper.from_array(np.array(0.5, F32), "half"),
        numpy_helper.from_array(np.array(4, np.int64), "four"),
    ]
    ends = [value("go" if go_on == "Input" else "on", [], BOOL), value("w", [3])]
    body = helper.make_graph(
        nodes,
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("v", [3])],
        [*ends, value("row", [3])],
        constants,
    )
    numbers: dict[str, np.ndarray] = {}
    if rounds is not None:
        numbers["n"] = np.array(rounds, np.int64)
    if start is not None:
        numbers["s"] = np.array(start)
    condition = "" if start is None else "s"
    made = node("Loop", ["n", condition, "x"], ["y", "all"], name="loop", body=body)
    inputs: list[Any] = [("x", [3]), ("bias", [3])]
    inputs += [("n", [], INT64)] if rounds is None else []
    return model([made], inputs, [("y", (3,)), ("all", ("rounds", 3))], numbers, opset)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(looped(), id="three"),
        pytest.param(looped(1), id="one"),
        pytest.param(looped(start=True), id="condition-true"),
        pytest.param(looped(start=True, go_on="Constant"), id="condition-constant"),
        pytest.param(looped(start=True, go_on="Input"), id="condition-handed-on"),
        pytest.param(looped(opset=12), id="opset-12"),
    ],
)
def test_a_loop_is_written_out_and_computes_the_same_bits(proto: onnx.ModelProto) -> None:
    edited = cured(proto, "loop-unroll")

    assert "Loop" not in {made.op_type for made in edited.graph.node}
    expected = run(proto, X)
    for found in (run(edited, X), emulate(edited, X, **FP32)):
        for name, tensor in expected.items():
            np.testing.assert_array_equal(found[name], tensor)


def test_lint_names_the_loop_until_it_is_written_out() -> None:
    assert linted(looped()) == [("loop", "loop-unregistered", "rejected")]
    assert linted(cured(looped(), "loop-unroll")) == []


def branch() -> list[Any]:
    bodies = [
        helper.make_graph([node(op, ["w"], [name])], name, [], [value(name, [3])])
        for op, name in (("Neg", "yes"), ("Abs", "no"))
    ]
    return [node("If", ["go"], ["z"], then_branch=bodies[0], else_branch=bodies[1])]


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (looped(None), "number of rounds is computed"),
        (looped(65), "runs 65 rounds, not 1 to 64"),
        (looped(0), "runs 0 rounds"),
        (looped(start=False), "true at the start"),
        (looped(go_on="Less"), "may end early"),
        (looped(inner=branch()), "body holds graphs"),
    ],
)
def test_what_could_run_otherwise_is_skipped(proto: onnx.ModelProto, reason: str) -> None:
    (found,) = LoopUnroll()(ir.from_proto(proto))

    assert isinstance(found, Skipped)
    assert reason in found.reason


def test_body_that_gives_another_number_of_tensors_is_skipped() -> None:
    proto = looped()
    body = proto.graph.node[0].attribute[0].g
    body.output.append(body.output[0])
    (found,) = LoopUnroll()(ir.from_proto(proto))

    assert isinstance(found, Skipped)
    assert found.reason == "its body takes or gives another number of tensors"
