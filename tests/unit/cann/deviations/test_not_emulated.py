from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.errors import AscendflowError, NotModelledError
from tests.control_flow_models import sequence_filled
from tests.emulation import convert, linted, target
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

NAME = "not-emulated"
TARGET = Target.of(target())
FLOAT, HALF, DOUBLE = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE


def unary(op_type: str, dtype: int = FLOAT, opset: int = 17) -> onnx.ModelProto:
    inputs = ["x", "x"] if op_type == "CastLike" else ["x"]
    nodes = [node(op_type, inputs, ["y"], name="n")]
    return model(nodes, [("x", [2], dtype)], [("y", [2], dtype)], opset=opset)


def between(dtype: int) -> onnx.ModelProto:
    """Neg in `dtype` between two nodes in float32; only Relu has nothing of it."""
    nodes = [
        node("Cast", ["x"], ["wide"], to=dtype),
        node("Neg", ["wide"], ["negative"]),
        node("Cast", ["negative"], ["narrow"], to=FLOAT),
        node("Relu", ["narrow"], ["y"]),
    ]
    return model(nodes, [("x", [2])], [("y", [2])], opset=15)


def chosen(dtype: int) -> onnx.ModelProto:
    """An If with a Constant of `dtype` in either branch."""

    def branch(name: str) -> onnx.GraphProto:
        value = helper.make_tensor("k", dtype, [1], [1])
        made = node("Constant", [], [f"{name}_y"], value=value)
        output = helper.make_tensor_value_info(f"{name}_y", dtype, [1])
        return helper.make_graph([made], name, [], [output])

    choose = node("If", ["c"], ["y"], then_branch=branch("yes"), else_branch=branch("no"))
    return model([choose], [("c", [], TensorProto.BOOL)], [("y", [1], dtype)])


def largest(dtype: int) -> onnx.ModelProto:
    """Max, of which onnxruntime has kernels for some types only."""
    inputs = [("a", [2], dtype), ("b", [2], dtype)]
    made = node("Max", ["a", "b"], ["y"], name="n")
    return model([made], inputs, [("y", [2], dtype)])


def asked_for_half(dtype: int) -> onnx.ModelProto:
    made = node("EyeLike", ["x"], ["y"], name="n", dtype=dtype)
    return model([made], [("x", [2, 2])], [("y", [2, 2], dtype)])


def test_a_random_operator_is_to_be_taken_out_whatever_its_type_is() -> None:
    drawn, wide = (
        next(f for f in lint(ir.from_proto(proto), TARGET) if f.deviation.name == NAME)
        for proto in (unary("RandomNormalLike"), unary("Neg", DOUBLE))
    )

    assert drawn.advice == (
        "take the random part out, or make what it draws an input of the model"
    )
    assert str(wide.advice).startswith("compute in float32")


@pytest.mark.parametrize(
    ("proto", "names"),
    [
        pytest.param(unary("Neg", DOUBLE), ["n"], id="float64"),
        pytest.param(between(DOUBLE), ["wide", "negative", "narrow"], id="float64-between"),
        pytest.param(
            between(TensorProto.BFLOAT16), ["wide", "negative", "narrow"], id="bfloat16"
        ),
        pytest.param(unary("RandomNormalLike"), ["n"], id="random"),
        pytest.param(unary("CastLike"), ["n"], id="cast-like"),
        pytest.param(chosen(FLOAT), ["y"], id="branches"),
        pytest.param(asked_for_half(HALF), ["n"], id="attribute"),
        pytest.param(largest(TensorProto.INT16), ["n"], id="no-kernel"),
        pytest.param(unary("Relu", TensorProto.INT16), ["n"], id="no-kernel-nor-function"),
        pytest.param(
            sequence_filled(),
            ["SequenceEmpty_s0", "SequenceInsert_s1", "ConcatFromSequence_y"],
            id="sequence",
        ),
    ],
)
def test_lint_names_every_node_for_which_convert_refuses(
    proto: onnx.ModelProto, names: list[str], tmp_path: Path
) -> None:
    found = linted(proto, NAME)

    assert {each.node for each in found} >= set(names)
    assert {each.consequence for each in found} == {"unknown"}
    with pytest.raises(AscendflowError, match="the emulator has no model of") as caught:
        convert(proto, tmp_path)
    told = re.findall(r"node '([^']+)' .*the emulator does not compute", str(caught.value))
    assert sorted(told) == sorted(each.node for each in found)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(between(FLOAT), id="float32"),
        pytest.param(between(HALF), id="float16"),
        pytest.param(between(TensorProto.INT32), id="int32"),
        pytest.param(unary("Abs", TensorProto.INT8), id="int8"),
        pytest.param(largest(TensorProto.INT32), id="kernel"),
        pytest.param(largest(HALF), id="kernel-of-what-it-becomes"),
        pytest.param(unary("Neg"), id="no-random"),
        pytest.param(chosen(TensorProto.INT64), id="branches-of-integers"),
        pytest.param(asked_for_half(FLOAT), id="attribute"),
    ],
)
def test_what_is_computed_is_not_named(proto: onnx.ModelProto, tmp_path: Path) -> None:
    assert linted(proto, NAME) == []
    convert(proto, tmp_path)


def test_opset_8_is_of_the_whole_model(tmp_path: Path) -> None:
    def written_in(opset: int) -> onnx.ModelProto:
        return model([node("Neg", ["x"], ["y"])], [("x", [1])], [("y", [1])], opset=opset)

    assert linted(written_in(8)) == [("", NAME, "unknown")]
    assert linted(written_in(9)) == []
    # What CANN refuses already needs no second word.
    assert linted(written_in(7)) == [("", "opset-window", "rejected")]
    with pytest.raises(NotModelledError, match="opset 8, only 9 on"):
        convert(written_in(8), tmp_path)


def test_only_the_node_at_which_types_end_is_named() -> None:
    """Behind an operator that ONNX does not know nothing has a type."""
    names = ["a", "b", "c", "d"]
    pairs = zip(["x", *names], names, strict=False)
    nodes = [node("Neg", [one], [other], name=other) for one, other in pairs]
    nodes[1].op_type, nodes[1].domain = "Mine", "my.own"
    proto = model([node("Neg", ["x"], ["z"])], [("x", [2])], [("z", [2])])
    proto.graph.node.extend(nodes)
    proto.opset_import.add(domain="my.own", version=1)

    assert linted(proto, NAME) == []  # that CANN refuses `b` is said once
    nodes[1].op_type, nodes[1].domain = "Mish", ""  # in ONNX from opset 18 on
    del proto.graph.node[1:]
    proto.graph.node.extend(nodes)
    assert [each.node for each in linted(proto, NAME)] == ["b"]


def test_cast_like_of_whole_numbers_is_computed(tmp_path: Path) -> None:
    proto = unary("CastLike", TensorProto.INT32)

    assert linted(proto, NAME, cann="8.5") == []
    convert(proto, tmp_path, cann="8.5")


def test_one_floating_node_in_a_branch_is_enough() -> None:
    """The other one in it is of whole numbers."""
    proto = chosen(TensorProto.INT64)
    branch = proto.graph.node[0].attribute[0].g
    number = helper.make_tensor("f", FLOAT, [1], [1])
    branch.node.insert(0, node("Constant", [], ["unread"], value=number))

    assert [each.node for each in linted(proto, NAME)] == ["y"]


def test_a_node_with_a_typed_and_an_untyped_input_is_not_named() -> None:
    """The one that makes the untyped tensor is, and that is enough."""
    nodes = [
        node("Neg", ["x"], ["a"], name="a"),
        node("Add", ["a", "x"], ["b"], name="b"),
        node("Neg", ["b"], ["y"], name="y"),
    ]
    proto = model(nodes, [("x", [2])], [("y", [2])])
    proto.graph.node[0].op_type = "Mish"  # in ONNX from opset 18 on

    assert [each.node for each in linted(proto, NAME)] == ["a"]


def reduced(op_type: str, dtype: int) -> onnx.ModelProto:
    made = [node(op_type, ["x"], ["y"], name="n")]
    return model(made, [("x", [2], dtype)], [("y", [1], dtype)], opset=18)


@pytest.mark.parametrize(
    ("proto", "cann", "name"),
    [
        pytest.param(
            unary("CastLike", opset=15), "6.0", "cast-like-unregistered", id="cast-like"
        ),
        pytest.param(
            reduced("ReduceL1", DOUBLE), "8.1", "reduce-norm-unregistered", id="float64"
        ),
    ],
)
def test_what_has_no_parser_needs_no_second_word(
    proto: onnx.ModelProto, cann: str, name: str
) -> None:
    assert linted(proto, cann=cann) == [("n", name, "rejected")]


def test_a_node_is_named_once_with_all_that_is_beyond_it(tmp_path: Path) -> None:
    proto = model(
        [node("Add", ["x", "k"], ["y"], name="n")],
        [("x", [2], DOUBLE)],
        [("y", [2], DOUBLE)],
        {"k": np.array([1, 2], np.float64)},
    )

    assert linted(proto, NAME) == [("n", NAME, "unknown")]
    with pytest.raises(NotModelledError, match=r"'x' is float64, .*'k' .*'y' is float64,"):
        convert(proto, tmp_path)
    proto.graph.node[0].input[1] = "x"
    with pytest.raises(NotModelledError) as caught:
        convert(proto, tmp_path)
    assert caught.value.message.count("'x' is float64") == 1


def test_what_nothing_runs_is_told_by_its_types(tmp_path: Path) -> None:
    with pytest.raises(NotModelledError) as caught:
        convert(largest(TensorProto.INT16), tmp_path)
    assert "onnxruntime has no kernel for Max of int16 in opset 17" in caught.value.message
