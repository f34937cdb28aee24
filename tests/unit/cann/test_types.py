"""Types of whole graphs; what is expected is worked out by hand from FE's rules."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.cann.target import Target
from ascendflow.cann.types import Choice, choose
from ascendflow.errors import StageError
from ascendflow.graph.load import load_model
from ascendflow.graph.nodes import label
from tests.emulation import target
from tests.models import F32, Spec, model, node

KEEP, WIDER = "must_keep_origin_dtype", "force_fp32"
MIX, ALLOW = "allow_mix_precision", "allow_fp32_to_fp16"
WEIGHTS = {"w": np.ones((2, 2, 1, 1), F32)}


def choices(proto: onnx.ModelProto, **config: Any) -> dict[str, Choice]:
    with TemporaryDirectory() as folder:
        onnx.save(proto, Path(folder) / "model.onnx")
        graph = load_model(Path(folder) / "model.onnx")
        found = choose(graph, Target.of(target(**config)))
        return {label(each): choice for each, choice in found.items()}


def types(proto: onnx.ModelProto, **config: Any) -> dict[str, str]:
    """Give "f16>f32" by node, "" where nothing runs it or there are no floats."""
    return {
        name: ""
        if (column := choice.column) is None
        else f"{column.operand}>{column.result}".replace("float", "f")
        for name, choice in choices(proto, **config).items()
    }


def chain(*nodes: onnx.NodeProto, shape: Any = (1, 2, 4, 4)) -> onnx.ModelProto:
    last = nodes[-1].output[0]
    return model(nodes, [("x", shape)], [(last, ["a", "b", "c", "d"])], WEIGHTS)


def conv(source: str, name: str) -> onnx.NodeProto:
    return node("Conv", [source, "w"], [name])


def unary(op_type: str, soc_version: str, rank: int, mode: str) -> Choice:
    shape = [1, 2, *[4] * (rank - 2)]
    window = {"kernel_shape": [1] * (rank - 2)} if op_type.endswith("Pool") else {}
    inputs, weights = ["x"], {}
    if op_type.startswith("Conv"):
        inputs, weights = ["x", "w"], {"w": np.ones([2, 2, *[1] * (rank - 2)], F32)}
    if op_type == "MatMul":
        inputs, weights = ["x", "w"], {"w": np.ones([2, 2], F32)}
    if op_type == "GlobalAveragePool":
        window = {}
    proto = model(
        [node(op_type, inputs, ["y"], **window)],
        [("x", shape)],
        [("y", [f"d{axis}" for axis in range(rank)])],
        weights,
    )
    return choices(proto, soc_version=soc_version, precision_mode=mode)["y"]


@pytest.mark.parametrize("op_type", ["Conv", "MaxPool", "AveragePool", "Exp", "Neg"])
@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310P3", "Ascend910B1"])
def test_force_fp16_forces_everything(op_type: str, soc_version: str) -> None:
    assert unary(op_type, soc_version, 4, "force_fp16").half


# Kernel types as published per SoC. "": nothing runs it, or nothing is known that does.
@pytest.mark.parametrize(
    ("op_type", "rank", "mode", "soc_version", "expected"),
    [
        ("Neg", 4, KEEP, "Ascend310", "float32"),
        ("Conv", 4, KEEP, "Ascend310B1", "float32"),
        ("Conv", 3, KEEP, "Ascend910B1", "float32"),
        ("Conv", 4, KEEP, "Ascend310P3", "unknown"),
        ("Conv", 4, KEEP, "Ascend910A", "unknown"),
        ("Conv", 5, KEEP, "Ascend910B1", "float32"),
        ("Conv", 5, KEEP, "Ascend310B1", "unknown"),
        ("Conv", 5, WIDER, "Ascend310B1", "float16"),
        ("MatMul", 2, KEEP, "Ascend310P3", "unknown"),
        ("MatMul", 2, WIDER, "Ascend910B1", "float32"),
        ("ConvTranspose", 4, WIDER, "Ascend910B1", "float16 -> float32"),
        ("ConvTranspose", 4, WIDER, "Ascend310B1", "float32"),
        ("ConvTranspose", 4, KEEP, "Ascend910B1", "float32"),
        ("ConvTranspose", 5, KEEP, "Ascend910B1", "unknown"),
        ("ConvTranspose", 4, ALLOW, "Ascend910B1", "float16"),
        ("AveragePool", 4, KEEP, "Ascend310P3", "float32"),  # on AI CPU
        ("AveragePool", 4, WIDER, "Ascend910B1", "float16"),
        ("AveragePool", 4, ALLOW, "Ascend310P3", "float16"),
        ("AveragePool", 4, MIX, "Ascend310P3", "float16"),
        ("AveragePool", 5, WIDER, "Ascend910B1", "float32"),
        ("AveragePool", 5, KEEP, "Ascend310P3", "unknown"),
        ("GlobalAveragePool", 4, WIDER, "Ascend910B1", "float32"),
        ("GlobalAveragePool", 4, KEEP, "Ascend310", "float32"),
        ("MaxPool", 4, KEEP, "Ascend910B1", "float32"),
        ("MaxPool", 4, KEEP, "Ascend310B1", "rejected"),
        ("MaxPool", 4, WIDER, "Ascend310B1", "float16"),
        ("Exp", 4, KEEP, "Ascend310", "unknown"),
        ("Exp", 4, KEEP, "Ascend310P3", "float32"),
        ("Log", 4, MIX, "Ascend910B1", "float32"),
    ],
)
def test_single_nodes(
    op_type: str, rank: int, mode: str, soc_version: str, expected: str
) -> None:
    choice = unary(op_type, soc_version, rank, mode)

    if choice.column is None:
        assert choice.problem is not None
        assert choice.problem.consequence == expected
    else:
        operand, _, result = expected.partition(" -> ")
        assert (choice.column.operand, choice.column.result) == (operand, result or operand)


def test_gray_operators_follow_what_their_producers_give() -> None:
    proto = chain(
        node("Relu", ["x"], ["before"]),
        conv("before", "c"),
        node("Relu", ["c"], ["after"]),
        node("Log", ["after"], ["l"]),
        node("Exp", ["l"], ["y"]),
    )

    found = types(proto, soc_version="Ascend910B1", precision_mode=MIX)

    assert found == {
        "before": "f32>f32",  # a graph input is a producer, of fp32
        "c": "f16>f16",  # white
        "after": "f16>f16",
        "l": "f32>f32",  # black
        "y": "f32>f32",
    }


def test_a_mixed_column_gives_fp32_behind_an_fp16_producer() -> None:
    up = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
    proto = model(
        [conv("x", "c"), node("Resize", ["c", "", "s"], ["r"], **up),
         node("Relu", ["r"], ["y"])],
        [("x", [1, 2, 4, 4])],
        [("y", ["a", "b", "c", "d"])],
        {**WEIGHTS, "s": np.array([1, 1, 2, 2], F32)},
    )  # fmt: skip

    found = types(proto, precision_mode=MIX)

    assert (found["c"], found["r"], found["y"]) == ("f16>f16", "f16>f32", "f32>f32")


def test_a_constant_comes_last_whatever_its_place() -> None:
    proto = model(
        [conv("x", "c"), node("Add", ["k", "c"], ["first"]),
         node("Add", ["x", "c"], ["wide"])],
        [("x", [1, 2, 4, 4])],
        [("first", ["a", "b", "c", "d"]), ("wide", ["e", "f", "g", "h"])],
        {**WEIGHTS, "k": np.ones(1, F32)},
    )  # fmt: skip

    found = types(proto, precision_mode=MIX)

    assert found["first"] == "f16>f16"  # the convolution decides, not the constant
    assert found["wide"] == "f32>f32"  # the graph input is input 0


def test_gray_operators_look_through_a_cast_to_fp32_unless_cast_is_black() -> None:
    f16 = TensorProto.FLOAT16
    spec: list[Spec] = [("x", [1, 2, 4, 4], f16)]
    nodes = [
        node("Neg", ["x"], ["n"]),
        node("Cast", ["n"], ["wide"], to=TensorProto.FLOAT),
        node("Relu", ["wide"], ["y"]),
    ]
    proto = model(nodes, spec, [("y", ["a", "b", "c", "d"])])

    gray = types(proto, precision_mode=MIX)
    black = types(proto, precision_mode=MIX, modify_mixlist={"black": ["Cast"]})

    assert (gray["n"], gray["y"], black["y"]) == ("f16>f16", "f16>f16", "f32>f32")


def test_what_has_no_kernel_gives_on_what_it_gets() -> None:
    proto = chain(
        conv("x", "c"),
        node("Flatten", ["c"], ["flat"]),
        node("Exp", ["flat"], ["e"]),
        node("Identity", ["e"], ["y"]),
    )

    mixed = types(proto, soc_version="Ascend910B1", precision_mode=MIX)
    kept = types(proto, soc_version="Ascend910B1", precision_mode=KEEP)

    held = types(proto, soc_version="Ascend910B1", precision_mode=MIX, keep_dtype=["flat"])

    assert mixed["flat"] == mixed["e"] == "f16>f16"
    assert held["flat"] == held["e"] == "f32>f32"
    assert kept["flat"] == kept["y"] == "f32>f32"


def test_allow_fp32_to_fp16_lowers_matrix_operators_only() -> None:
    proto = chain(conv("x", "c"), node("Exp", ["c"], ["y"]))

    assert types(proto, precision_mode=ALLOW) == {"c": "f16>f16", "y": "f32>f32"}


def test_keep_dtype_by_name_and_by_operator() -> None:
    proto = chain(node("Exp", ["x"], ["e"]), node("Neg", ["e"], ["n"]), conv("n", "y"))
    on = {"soc_version": "Ascend910B1"}

    assert types(proto, **on, keep_dtype=["e"]) == {
        "e": "f32>f32",
        "n": "f16>f16",
        "y": "f16>f16",
    }
    assert types(proto, **on, keep_dtype=["OpType::Neg"])["n"] == "f32>f32"
    assert types(proto, **on, keep_dtype=["OpType::Conv2D"])["y"] == "f32>f32"


def test_keep_dtype_of_a_kernel_without_fp32_is_listed() -> None:
    window = {"kernel_shape": [2, 2]}
    proto = chain(
        node("AveragePool", ["x"], ["a"], **window), node("MaxPool", ["a"], ["m"], **window)
    )

    found = choices(proto, keep_dtype=["a", "m"])

    assert found["a"].problem is None
    assert "AI CPU runs it in float32" in found["a"].reason
    problem = found["m"].problem
    assert problem is not None
    assert problem.consequence == "rejected"
    assert "keep_dtype forbids float16" in problem.reason


@pytest.mark.parametrize(
    ("custom", "expected"),
    [
        ({"y": {"inputs": ["float32"], "outputs": ["float32"]}}, "f32>f32"),
        ({"OpType::Exp": {"inputs": ["float32"]}}, "f32>f32"),
        (
            {"y": {"inputs": ["float16"]}, "OpType::Exp": {"inputs": ["float32"]}},
            "f16>f16",
        ),
        ({"y": {"inputs": ["float16"], "outputs": ["float32"]}}, ""),
        ({"y": {"outputs": ["int8"]}}, ""),
    ],
)
def test_customize_dtypes_goes_before_keep_dtype_and_names_before_operators(
    custom: dict[str, Any], expected: str
) -> None:
    proto = chain(node("Exp", ["x"], ["y"]))

    assert types(proto, keep_dtype=["y"], customize_dtypes=custom)["y"] == expected


def test_a_column_that_no_kernel_has_is_refused() -> None:
    proto = chain(node("Exp", ["x"], ["y"]))
    custom = {"y": {"inputs": ["float16"], "outputs": ["float32"]}}

    problem = choices(proto, customize_dtypes=custom)["y"].problem

    assert problem is not None
    assert problem.consequence == "rejected"
    assert "asks Exp for float16 -> float32" in problem.reason
    assert "it has float16 -> float16, float32 -> float32" in problem.reason


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        (
            {"keep_dtype": ["exq"]},
            "convert.keep_dtype: no node is called 'exq'",
            "did you mean 'exp', of operator Exp? names are those of the simplified",
        ),
        ({"keep_dtype": ["OpType::Exq"]}, "no node becomes the operator 'Exq'", "'Exp'"),
        ({"customize_dtypes": {"zzzz": {}}}, "no node is called 'zzzz'", "precision"),
        ({"modify_mixlist": {"black": ["LayerNrom"]}}, "'LayerNrom'", "'LayerNorm'"),
        (
            {"op_select_implmode": "high_precision", "optypelist_for_implmode": ["Gleu"]},
            "optypelist_for_implmode",
            "'Gelu'",
        ),
    ],
)
def test_a_name_that_matches_nothing_names_the_nearest(
    settings: dict[str, Any], message: str, hint: str
) -> None:
    proto = chain(node("Exp", ["x"], ["exp"]))

    with pytest.raises(StageError) as caught:
        choices(proto, precision_mode=MIX, **settings)

    assert message in caught.value.message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("written", ["/stage1/Relu", "/stage1/Relu_1", "/stage1/Relu_o_0"])
def test_a_node_of_another_operator_is_not_offered_as_the_one_that_is_gone(
    written: str,
) -> None:
    proto = chain(node("Exp", ["x"], ["y"], name="/stage1/Exp"))

    with pytest.raises(StageError, match="no node is called") as caught:
        choices(proto, keep_dtype=[written])

    assert "did you mean" not in str(caught.value)
    assert "ascendflow precision FILE --simplify" in str(caught.value.hint)


def test_the_mix_lists_can_be_changed() -> None:
    proto = chain(conv("x", "c"), node("Exp", ["c"], ["e"]), node("Neg", ["e"], ["y"]))

    black = types(proto, precision_mode=MIX, modify_mixlist={"black": ["Exp"]})
    white = types(proto, precision_mode=MIX, modify_mixlist={"white": ["Neg"]})
    gray = types(
        proto,
        precision_mode=MIX,
        soc_version="Ascend910B1",
        modify_mixlist={"gray": ["Conv2D"], "black": ["LayerNormV4"]},
    )

    assert (black["e"], black["y"]) == ("f32>f32", "f32>f32")
    assert white["y"] == "f16>f16"
    assert gray["c"] == "f32>f32"  # it follows the graph's input


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("force_fp16", ["force_fp16"]),
        (KEEP, ["must_keep_origin_dtype"]),
        (ALLOW, ["allow_fp32_to_fp16: no matrix operator"]),
        (MIX, ["gray list: follows 'c' (float16)"]),
    ],
)
def test_every_choice_has_a_reason(mode: str, words: list[str]) -> None:
    proto = chain(conv("x", "c"), node("Exp", ["c"], ["y"]))

    found = choices(proto, soc_version="Ascend910B1", precision_mode=mode)

    assert all(choice.reason for choice in found.values())
    for word in words:
        assert word in found["y"].reason


@pytest.mark.parametrize(
    ("op_type", "soc_version", "mode", "keepable"),
    [
        # No fp32 in the matrix unit, as `platform_config/*.ini` has it: refused there.
        pytest.param("Conv", "Ascend310P3", "force_fp16", False, id="no-fp32-cube"),
        pytest.param("Conv", "Ascend910B1", "force_fp16", True, id="fp32-cube"),
        pytest.param("Exp", "Ascend310P3", "force_fp16", True, id="vector"),
        pytest.param("Exp", "Ascend310", "force_fp16", False, id="fp16-kernel-only"),
        pytest.param("MaxPool", "Ascend310P3", "force_fp16", False, id="nor-on-ai-cpu"),
        pytest.param("AveragePool", "Ascend310P3", "force_fp16", True, id="on-ai-cpu"),
        pytest.param("Exp", "Ascend310P3", KEEP, False, id="kept-already"),
        pytest.param("Exp", "Ascend910B1", WIDER, False, id="wide-already"),
    ],
)
def test_keep_dtype_is_of_use_where_a_kernel_has_it_and_it_changes_something(
    op_type: str, soc_version: str, mode: str, keepable: bool
) -> None:
    choice = unary(op_type, soc_version, 4, mode)
    proto = model([node("Exp", ["x"], ["y"])], [("x", (2,))], [("y", (2,))], {})

    assert choice.keepable is keepable
    assert not choices(proto, keep_dtype=["y"])["y"].keepable


def test_refusal_says_where_keep_dtype_is_the_cause() -> None:
    proto = chain(conv("x", "c"))
    named = choices(proto, keep_dtype=["c"])["c"].problem
    by_mode = choices(proto, precision_mode=KEEP)["c"].problem
    both = choices(proto, precision_mode=KEEP, keep_dtype=["c"])["c"].problem

    assert named is not None
    assert "no fp32, for which keep_dtype asks" in named.reason
    assert named.advice == "take it out of convert.keep_dtype"
    for other in (by_mode, both):
        assert other is not None
        assert "keep_dtype" not in other.reason
        assert other.advice is None
