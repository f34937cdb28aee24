"""What the rules that split big pools have in common: no rule itself.

One pool of each axis takes a pool's place, or a global one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.big_windows import LARGEST_AREA, LARGEST_STRIDE, is_big
from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.opset_spelling import SPATIAL, Cut, sliced
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import lengths_of, read_window

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.graph.windows import Window


class SplitBigPool(Rule):
    """What the rules for MaxPool and AveragePool have in common.

    Attributes:
        global_op: what pools the whole input at once.
    """

    global_op: ClassVar[str]

    @abstractmethod
    def may_be_global(self, node: ir.Node, window: Window) -> bool:
        """Return whether a global pool of what the only window reaches gives the same."""

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one pool."""
        window = read_window(node)
        if window is None or not is_big(window):
            yield Skipped(node, "its window is not big")
            return
        if window.is_dilated or len(node.outputs) > 1:
            fault = "is dilated" if window.is_dilated else "has more than one output"
            yield Skipped(node, f"it {fault}")
            return
        before = {"kernel_shape": list(window.kernel), "strides": list(window.strides)}
        if self.may_be_global(node, window) and _make_global(node, window, self.global_op):
            yield Applied(node, before, {"op_type": self.global_op})
        elif (reason := _why_not_split(window)) is not None:
            yield Skipped(node, reason)
        else:
            _split(node, window)
            yield Applied(node, before, {"op_type": f"{node.op_type} of each axis"})


def _why_not_split(window: Window) -> str | None:
    """Return why one pool of each axis would be as bad, or None."""
    for kernel, stride in zip(window.kernel, window.strides, strict=True):
        if kernel > LARGEST_AREA or stride > LARGEST_STRIDE:
            return f"along one axis the window is {kernel} long, the stride {stride}"
    return None


def _split(node: ir.Node, window: Window) -> None:
    """Pool the rows, then the columns; what else the node says stays as it is."""
    chain, value = Chain(node), node.inputs[0]
    for axis in range(window.rank):
        attributes = attributes_of(
            node, without={"kernel_shape", "strides", "pads", "dilations"}
        )
        attributes["kernel_shape"] = _only(window.kernel, axis, 1)
        attributes["strides"] = _only(window.strides, axis, 1)
        if window.pads:
            pads = window.pads
            attributes["pads"] = [*_only(pads.heads, axis, 0), *_only(pads.tails, axis, 0)]
        value = chain(node.op_type, [value], attributes)
    chain.put_in_place()


def _make_global(node: ir.Node, window: Window, op_type: str) -> bool:
    """Put a global pool where there is one window only; False where there are more.

    What the window does not reach is cut off first.
    """
    lengths = lengths_of(node)
    if lengths is None or any(count != 1 for count in window.outputs_for(lengths)):
        return False
    heads = window.pads_for(lengths).heads
    chain, value = Chain(node), node.inputs[0]
    assert value is not None  # noqa: S101, it has lengths
    ends = [k - head for k, head in zip(window.kernel, heads, strict=True)]
    cuts = [
        Cut(SPATIAL + axis, 0, end) for axis, end in enumerate(ends) if end < lengths[axis]
    ]
    if cuts:
        value = sliced(chain, value, cuts)
    chain(op_type, [value])
    chain.put_in_place()
    return True


def _only(values: tuple[int, ...], axis: int, rest: int) -> list[int]:
    return [value if number == axis else rest for number, value in enumerate(values)]
