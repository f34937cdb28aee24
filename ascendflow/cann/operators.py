"""ONNX operators and the GE operators that CANN's parser and passes make of them.

Only what was read in a source is named: the ONNX plugins of canndev (2022-06) and ops-nn
master, the fusion passes in 8.1.RC1's fusion_config.json. None means that it was not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_ir as ir

_SAME_RANK = {
    "Cast": "Cast",
    "Celu": "Celu",
    "Div": "RealDiv",
    "GlobalAveragePool": "ReduceMeanD",
    "Mod": "Mod",
    "Pad": "PadV3",
    "Pow": "Pow",
    "Softmax": "SoftmaxV2",
}
_OF_PICTURES = {"AveragePool": "AvgPoolV2", "Conv": "Conv2D", "MaxPool": "MaxPoolV3"}
_RESIZES = {"linear": "ResizeBilinearV2", "nearest": "ResizeNearestNeighborV2"}


def target_op(node: ir.Node) -> str | None:
    """Return the GE operator that `node` becomes, where a source gives it."""
    if node.op_type == "Resize":
        return _RESIZES.get(node.attributes.get_string("mode", "nearest"))
    if node.op_type in _OF_PICTURES:
        shape = node.inputs[0].shape if node.inputs and node.inputs[0] else None
        is_picture = shape is not None and len(shape) == 4  # N, C, H, W
        return _OF_PICTURES[node.op_type] if is_picture else None
    return _SAME_RANK.get(node.op_type)
