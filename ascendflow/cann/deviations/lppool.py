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

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.big_pools import lost
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import NodeDeviation
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.windows import VOLUME, Window, read_window

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.deviations.deviation import Conditions


class _LpPool(NodeDeviation):
    """Reads the window; whichever deviation it is, all that is not read is dropped."""

    op_types: ClassVar[frozenset[str]] = frozenset({"LpPool"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    source: ClassVar[str] = (
        "canndev lppool_plugin.cc 2022-06; ops-nn master lppool_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for what is not read."""
        window = read_window(node)
        if window is None:
            return Harmless("it has no kernel_shape")
        return self.judge(node, window, conditions)

    @abstractmethod
    def judge(self, node: ir.Node, window: Window, conditions: Conditions) -> Detection:
        """Say whether CANN deviates on a node whose window is known."""

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Drop what is not read."""
        window = read_window(node)
        for name in ("ceil_mode", "dilations"):
            node.attributes.pop(name, None)
        if window is not None and _loses_auto_pad(window):
            node.attributes.pop("auto_pad", None)


class LpPoolCeilMode(_LpPool):
    """ceil_mode of case 1."""

    name: ClassVar[str] = "lppool-ceil-mode"
    onnx: ClassVar[str] = "ceil_mode adds a window that reaches past the end."
    cann: ClassVar[str] = "ceil_mode is not read."
    cure: ClassVar[str | None] = "ceil-mode-to-pads"

    def judge(self, node: ir.Node, window: Window, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compare the numbers of windows."""
        unread = _unread(node, window, "ceil_mode")
        return unread or Harmless("ceil_mode changes nothing")


class LpPoolAutoPad(_LpPool):
    """Case 2."""

    name: ClassVar[str] = "lppool-auto-pad"
    onnx: ClassVar[str] = "auto_pad says how much is padded."
    cann: ClassVar[str] = "auto_pad of 3-D and big windows is not read."
    cure: ClassVar[str | None] = "auto-pad-to-pads"

    def judge(self, node: ir.Node, window: Window, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compute what is padded."""
        unread = _unread(node, window, "auto_pad") if _loses_auto_pad(window) else None
        return unread or Harmless("auto_pad is read, or pads nothing")


class LpPoolDilation(_LpPool):
    """dilations of case 1."""

    name: ClassVar[str] = "lppool-dilation"
    onnx: ClassVar[str] = "dilations says how far the elements of a window lie apart."
    cann: ClassVar[str] = "dilations are not read."
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = "spell it out as Abs, Pow, a sum of Slices, and Pow"

    def judge(self, node: ir.Node, window: Window, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look for a window with gaps."""
        if window.is_dilated:
            return Found(f"not read: dilations {list(window.dilations)}", "silent")
        return Harmless("its window has no gaps")


class LpPoolOddPower(_LpPool):
    """Case 3."""

    name: ClassVar[str] = "lppool-odd-p"
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "The p-norm of a window adds up |x| ** p."
    cann: ClassVar[str] = "Before 8.5 an odd p keeps signs."
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = "build for CANN 8.5 or later, or for an even p"

    def judge(self, node: ir.Node, window: Window, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at p and the release."""
        p = node.attributes.get_int("p", 2)
        if p % 2 and not conditions.profile.is_open:
            return Found(f"p is {p}: signs are kept, and roots of less than 0", "unknown")
        return Harmless("p is even, or the release takes |x|")


def _unread(node: ir.Node, window: Window, attribute: str) -> Found | None:
    """Find an attribute of a window that means something, and is not read."""
    losses = [loss for name, loss in lost(node, window) if name == attribute]
    return Found(f"not read: {', '.join(losses)}", "silent") if losses else None


def _loses_auto_pad(window: Window) -> bool:
    return window.rank == VOLUME or is_big(window)
