from __future__ import annotations

import onnx_ir as ir
import pytest

from ascendflow.cann.operators import target_op


@pytest.mark.parametrize(
    ("op_type", "rank", "expected"),
    [
        ("Conv", 4, "Conv2D"),
        ("Conv", 5, "Conv3D"),
        ("Conv", 3, "Conv2D"),
        ("Conv", 2, None),
        ("MaxPool", 4, "MaxPoolV3"),
        ("AveragePool", 3, "AvgPoolV2"),
        ("ReduceMean", 4, "ReduceMeanD"),
        ("MatMul", 2, "BatchMatMulV2"),
        ("GlobalAveragePool", 4, "ReduceMeanD"),
        ("Softmax", 2, "SoftmaxV2"),
        ("Unheard", 4, None),
    ],
)
def test_only_what_a_source_names_is_named(
    op_type: str, rank: int, expected: str | None
) -> None:
    value = ir.Value(name="x", shape=ir.Shape([1] * rank))

    assert target_op(ir.Node("", op_type, [value])) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ([ir.AttrString("mode", "linear")], "ResizeBilinearV2"),
        ([ir.AttrString("mode", "nearest")], "ResizeNearestNeighborV2"),
        ([], "ResizeNearestNeighborV2"),
        ([ir.AttrString("mode", "cubic")], None),
    ],
)
def test_resize_goes_by_its_mode(attributes: list[ir.Attr], expected: str | None) -> None:
    assert target_op(ir.Node("", "Resize", [], attributes)) == expected


def test_axes_that_are_computed_leave_the_operator_without_a_d() -> None:
    x = ir.Value(name="x", shape=ir.Shape([1, 2]))
    axes = ir.Value(name="axes")
    fixed = ir.Value(name="fixed", const_value=ir.tensor([1]))
    ir.Graph([x, axes], [], nodes=[], initializers=[fixed], name="g")

    names = [target_op(ir.Node("", "ReduceMax", [x, each])) for each in (axes, fixed)]

    assert names == ["ReduceMax", "ReduceMaxD"]


def test_axes_that_are_the_default_of_an_input_are_constant() -> None:
    """GE onnx_parser.cc ParseInput passes over inputs that are initializers."""
    x = ir.Value(name="x", shape=ir.Shape([1, 2]))
    axes = ir.Value(name="axes", const_value=ir.tensor([1]))
    ir.Graph([x, axes], [], nodes=[], initializers=[axes], name="g")

    assert target_op(ir.Node("", "ReduceMax", [x, axes])) == "ReduceMaxD"


@pytest.mark.parametrize(
    ("inputs", "version", "expected"),
    [
        (["x"], 9, "ClipByValue"),
        (["x", "low", "high"], 13, "ClipByValue"),
        (["x", "low"], 13, "Maximum"),
        (["x", None, "high"], 13, "Minimum"),
        (["x"], 13, None),
    ],
)
def test_clip_goes_by_its_bounds(
    inputs: list[str | None], version: int, expected: str | None
) -> None:
    values = [None if name is None else ir.Value(name=name) for name in inputs]

    assert target_op(ir.Node("", "Clip", values, version=version)) == expected
