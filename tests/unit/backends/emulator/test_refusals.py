from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import AscendflowError, NotModelledError, StageError
from tests.control_flow_models import sequence_filled
from tests.emulation import convert, emulate
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


def unary(
    op_type: str, dtype: int = TensorProto.FLOAT, **attributes: object
) -> onnx.ModelProto:
    inputs = ["x", "x"] if op_type == "CastLike" else ["x"]
    nodes = [node(op_type, inputs, ["y"], name="n", **attributes)]
    return model(nodes, [("x", [1, 2, 4, 4], dtype)], [("y", ["a", "b", "c", "d"], dtype)])


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (unary("Neg", TensorProto.DOUBLE), r"node 'n' \(Neg\): tensor 'x' is float64"),
        (unary("Neg", TensorProto.BFLOAT16), "tensor 'x' is bfloat16"),
        (unary("RandomNormalLike"), "gives random numbers"),
        (unary("CastLike"), "CastLike of floating tensors"),
    ],
)
def test_a_type_or_operator_that_is_not_modelled_names_its_node(
    proto: onnx.ModelProto, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(NotModelledError, match=reason):
        convert(proto, tmp_path)


def test_what_cann_refuses_comes_first_and_the_rest_is_listed_too(tmp_path: Path) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s"], ["q"]),
        node("Cast", ["q"], ["d"], to=TensorProto.DOUBLE),
        node("Cast", ["d"], ["y"], to=TensorProto.FLOAT),
    ]
    scale = {"s": np.array(0.5, F32)}
    proto = model(nodes, [("x", [2])], [("y", [2])], scale, opset=15)

    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path)

    refused, _, unknown = caught.value.message.partition("the emulator has no model of:")
    assert "node 'q' (QuantizeLinear)" in refused
    assert "node 'd' (Cast): tensor 'd' is float64" in unknown
    assert "node 'y' (Cast): tensor 'd' is float64" in unknown


def branches(dtype: int, *, yes: int = 1, no: int = 1) -> onnx.ModelProto:
    def branch(name: str, number: int) -> onnx.GraphProto:
        value = helper.make_tensor_value_info(f"{name}_y", dtype, [1])
        constant = helper.make_tensor("k", dtype, [1], [number])
        made = node("Constant", [], [f"{name}_y"], value=constant)
        return helper.make_graph([made], name, [], [value])

    choose = node(
        "If", ["c"], ["y"], then_branch=branch("yes", yes), else_branch=branch("no", no)
    )
    return model([choose], [("c", [], TensorProto.BOOL)], [("y", [1], dtype)])


def test_floats_inside_a_branch_are_not_modelled_and_integers_are(tmp_path: Path) -> None:
    """GR09."""
    convert(branches(TensorProto.INT64), tmp_path)

    with pytest.raises(
        NotModelledError, match=r"'y' \(If\): floating tensors inside no, yes"
    ):
        convert(branches(TensorProto.FLOAT), tmp_path)


@pytest.mark.parametrize("holds", [True, False])
def test_either_branch_of_integers_gives_its_own(*, holds: bool) -> None:
    """GR09."""
    found = emulate(branches(TensorProto.INT64, yes=1, no=3), {"c": np.array(holds)})

    assert found["y"].tolist() == [1 if holds else 3]


def test_sequences_are_not_modelled_and_every_node_is_named(tmp_path: Path) -> None:
    """GR11."""
    proto = sequence_filled()
    with pytest.raises(NotModelledError) as caught:
        convert(proto, tmp_path)

    for name in ("SequenceEmpty_s0", "SequenceInsert_s1", "ConcatFromSequence_y"):
        assert f"node {name!r}" in caught.value.message
    assert "is of Sequence" in caught.value.message
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310P3", "Ascend910A"])
def test_fp32_convolutions_are_not_modelled_without_an_fp32_cube(
    soc_version: str, tmp_path: Path
) -> None:
    w = np.ones((2, 2, 1, 1), F32)
    kernel = {"kernel_shape": [1, 1]}
    nodes = [
        node("Conv", ["x", "w"], ["a"], **kernel),
        node("Conv", ["a", "w"], ["y"], **kernel),
    ]
    proto = model(nodes, [("x", [1, 2, 4, 4])], [("y", [1, 2, 4, 4])], {"w": w})
    mode = "must_keep_origin_dtype"

    with pytest.raises(NotModelledError) as caught:
        convert(proto, tmp_path, soc_version=soc_version, precision_mode=mode)

    assert "node 'a' (Conv)" in str(caught.value)
    assert "node 'y' (Conv)" in str(caught.value)


def test_fp32_max_pooling_without_a_kernel_is_refused_as_cann_does(tmp_path: Path) -> None:
    proto = unary("MaxPool", kernel_shape=[2, 2])

    with pytest.raises(
        StageError, match=r"CANN 8.1 refuses:\n.*ascend310p has no fp32 MaxPoolV3"
    ):
        convert(proto, tmp_path, precision_mode="must_keep_origin_dtype")


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    nodes = [node("Neg", ["x" if k == 0 else f"t{k}"], [f"t{k + 1}"]) for k in range(50)]
    double = TensorProto.DOUBLE
    proto = model(nodes, [("x", [1], double)], [("t50", [1], double)])

    with pytest.raises(NotModelledError) as caught:
        convert(proto, tmp_path)

    assert "... and 30 more nodes" in str(caught.value)
    assert str(caught.value).count("(Neg)") == 20


def test_opset_8_is_not_modelled(tmp_path: Path) -> None:
    proto = model([node("Neg", ["x"], ["y"])], [("x", [1])], [("y", [1])], opset=8)

    with pytest.raises(NotModelledError, match="opset 8, only 9 on"):
        convert(proto, tmp_path)


def test_what_is_computed_both_ways_gets_no_advice(tmp_path: Path) -> None:
    """Resize's two behaviours stand in nobody's way; a node without a parser does."""
    nodes = [
        node("Resize", ["x", "up"], ["u"], mode="linear"),
        node("QuantizeLinear", ["u", "s"], ["q"]),
        node("DequantizeLinear", ["q", "s"], ["y"]),
    ]
    constants = {"up": np.array([1, 1, 2, 3], F32), "s": np.array(0.5, F32)}
    y = ("y", list("nchw"))
    proto = model(nodes, [("x", [1, 1, 4, 6])], [y], constants, opset=10)

    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path, cann="9.1")

    assert "spell these nodes in other operators" in str(caught.value.hint)
    assert "resize-to-matmul" not in str(caught.value.hint)


def convolution() -> onnx.ModelProto:
    w = np.ones((2, 2, 1, 1), F32)
    nodes = [node("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1])]
    return model(nodes, [("x", [1, 2, 4, 4])], [("y", [1, 2, 4, 4])], {"w": w})


def pooled() -> onnx.ModelProto:
    nodes = [node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])]
    return model(nodes, [("x", [1, 2, 4, 4])], [("y", ["a", "b", "c", "d"])])


KEEP = {"precision_mode": "must_keep_origin_dtype"}
NARROW = "force_fp16 or allow_fp32_to_fp16 or allow_mix_precision"


@pytest.mark.parametrize("proto", [convolution(), pooled()], ids=["unknown", "rejected"])
def test_modes_that_help_are_named_and_no_other(
    proto: onnx.ModelProto, tmp_path: Path
) -> None:
    """Of the two a 310P has kernels in fp16 alone; force_fp32 is not modelled there."""
    with pytest.raises(AscendflowError) as caught:
        convert(proto, tmp_path, **KEEP)

    assert caught.value.hint is not None
    assert caught.value.hint.endswith(f"set convert.precision_mode: {NARROW}")
    for mode in NARROW.split(" or "):
        (tmp_path / mode).mkdir()
        convert(proto, tmp_path / mode, precision_mode=mode)


def on_another_list() -> dict[str, object]:
    mix = {"black": ["MaxPoolV3"]}
    return {"precision_mode": "allow_mix_precision", "modify_mixlist": mix}


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        (unary("Neg", TensorProto.DOUBLE), {}),
        (unary("RandomNormalLike"), KEEP),
        (pooled(), {"keep_dtype": ["y"]}),
        (pooled(), on_another_list()),
    ],
    ids=["double", "random", "kept", "mixlist"],
)
def test_where_no_mode_helps_none_is_proposed(
    proto: onnx.ModelProto, config: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(AscendflowError) as caught:
        convert(proto, tmp_path, **config)

    assert "precision_mode" not in (caught.value.hint or "")
