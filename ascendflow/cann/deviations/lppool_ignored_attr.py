"""LpPool: attributes that CANN does not read, and signs.

CANN computes (n * mean(x ** p)) ** (1 / p) with the kernels of AveragePool.

1. ceil_mode and dilations are not read, with a warning that ATC does not print.
2. auto_pad is not read where the window is 3-D, has more than 255 elements, or has a
   stride over 63.
3. |x| is taken in master only. Before, an odd p keeps signs, and a negative sum has no
   root that a source would tell.

Sources: canndev `lppool_plugin.cc`, 2022-06; ops-nn master `lppool_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.big_pools import lost
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import VOLUME, Window, read_window

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence


class LpPoolIgnoredAttr(NodeDeviation):
    """Cases 1 to 3 of the module's text."""

    name: ClassVar[str] = "lppool-ignored-attr"
    op_types: ClassVar[frozenset[str]] = frozenset({"LpPool"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "The p-norm of windows, which ceil_mode, dilations and auto_pad lay out."
    )
    cann: ClassVar[str] = (
        "ceil_mode and dilations are not read, nor is auto_pad of 3-D and big windows; "
        "before 8.5 an odd p keeps signs."
    )
    cure: ClassVar[str | None] = "ceil-mode-to-pads"
    source: ClassVar[str] = (
        "canndev lppool_plugin.cc 2022-06; ops-nn master lppool_onnx_plugin.cpp"
    )

    def confidence(self, conditions: Conditions) -> Confidence:
        """Read in source up to 6.0 and in master; carried on between."""
        return conditions.profile.plugin_confidence

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for what is not read, and for an odd p."""
        window = read_window(node)
        if window is None:
            return Harmless("it has no kernel_shape")
        p = node.attributes.get_int("p", 2)
        if p % 2 and not conditions.profile.is_open:
            return Found(f"p is {p}: signs are kept, and roots of less than 0", "unknown")
        losses = []
        if window.is_dilated:
            losses.append(f"dilations {list(window.dilations)}")
        losses += [
            loss
            for attribute, loss in lost(node, window)
            if attribute == "ceil_mode" or _loses_auto_pad(window)
        ]
        if losses:
            return Found(f"not read: {', '.join(losses)}", "silent")
        return Harmless("nothing that is not read changes anything")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Drop what is not read."""
        window = read_window(node)
        for name in ("ceil_mode", "dilations"):
            node.attributes.pop(name, None)
        if window is not None and _loses_auto_pad(window):
            node.attributes.pop("auto_pad", None)


def _loses_auto_pad(window: Window) -> bool:
    return window.rank == VOLUME or is_big(window)
