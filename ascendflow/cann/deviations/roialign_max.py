"""RoiAlign: `mode` is never read, so max pools by averaging.

The parser sets everything but pool_mode, whose default is `avg`.

The other attribute that could matter is read right: up to opset 15 boxes are not shifted,
as in ONNX; from 16 on `half_pixel` shifts them by half a pixel and `output_half_pixel`
does not.

Source: canndev `roiAlign_plugin.cc`, 2022-06; ops-cv `roi_align_onnx_plugin.cpp`, 9.1.0;
8.1.RC1 operator prototype ROIAlign, `dynamic/roi_align.py`.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

_AVERAGE = "avg"


class RoiAlignMax(NodeDeviation):
    """The average in place of the maximum."""

    name: ClassVar[str] = "roialign-max"
    op_types: ClassVar[frozenset[str]] = frozenset({"RoiAlign"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = (
        "mode says whether a bin is the average or the maximum of its samples."
    )
    cann: ClassVar[str] = "mode is not read; a bin is the average of its samples."
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "canndev roiAlign_plugin.cc 2022-06; ops-cv roi_align_onnx_plugin.cpp 9.1.0; CANN "
        "8.1.RC1 op_proto ROIAlign"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at `mode`."""
        mode = node.attributes.get_string("mode", _AVERAGE)
        if mode == _AVERAGE:
            return Harmless("mode is 'avg', which is what CANN computes")
        return Found(f"mode {mode!r} is not read: each bin is an average", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Average."""
        node.attributes.add(ir.AttrString("mode", _AVERAGE))
