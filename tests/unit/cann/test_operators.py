from __future__ import annotations

import onnx_ir as ir
import pytest

from ascendflow.cann.operators import target_op


@pytest.mark.parametrize(
    ("op_type", "rank", "expected"),
    [
        ("Conv", 4, "Conv2D"),
        ("Conv", 5, None),
        ("MaxPool", 4, "MaxPoolV3"),
        ("AveragePool", 3, None),
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
