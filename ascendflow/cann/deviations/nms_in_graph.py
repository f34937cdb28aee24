"""NonMaxSuppression: its output is as long as the data has it.

It has a parser (opsets 10 on), which makes NonMaxSuppressionV6 and a Cast to int64. AI
Core has that kernel on 310P only; elsewhere a closed pass makes NonMaxSuppressionV7 of it.
What these give where fewer boxes stay than were asked for is not known, and ATC was
reported to crash on such models without a message. A model is better cut before it, and
boxes are suppressed on the host.

Sources: canndev `non_max_suppression_plugin.cc`; ops-cv 9.0.0 to master
`non_max_suppression_onnx_plugin.cpp`; 8.1.RC1 `aic-<soc>-ops-info.json`;
ultralytics/ultralytics#25432, open-mmlab/mmdeploy#1791.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation

if TYPE_CHECKING:
    import onnx_ir as ir


class NmsInGraph(NodeDeviation):
    """Suppression inside the model."""

    name: ClassVar[str] = "nms-in-graph"
    op_types: ClassVar[frozenset[str]] = frozenset({"NonMaxSuppression"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "One row for each box that stays; how many is known afterwards."
    cann: ClassVar[str] = (
        "Parsed; the kernel is on 310P only, a closed pass replaces it elsewhere, and ATC "
        "was reported to crash."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "cut NonMaxSuppression off the model and suppress boxes on the host"
    )
    source: ClassVar[str] = (
        "canndev non_max_suppression_plugin.cc; ops-cv 9.0.0 to master; CANN 8.1.RC1 "
        "aic-<soc>-ops-info.json; ultralytics/ultralytics#25432, open-mmlab/mmdeploy#1791"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "medium")
    """The plugin was read, the kernels were not."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Name every one."""
        boxes = node.inputs[0].shape if node.inputs[0] is not None else None
        shape = "unknown" if boxes is None else str(boxes)
        reason = f"how many of its boxes (shape {shape}) stay depends on the data"
        return Found(reason, "unknown")
