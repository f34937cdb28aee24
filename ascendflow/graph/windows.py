"""The windows of pools and convolutions: attributes with their defaults, pads, lengths.

Formulas are those of the ONNX operator documents; where ceil_mode makes the last window
begin in the padding, that window is left out, as PyTorch and onnxruntime do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendflow.graph.gears import shapes_of
from ascendflow.graph.nodes import input_at, static_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    Lengths = tuple[int, ...]

POOLS = frozenset({"AveragePool", "LpPool", "MaxPool"})
AUTO_PADS = frozenset({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"})
VOLUME = 3
"""Spatial axes of what CANN's 3-D kernels read."""


@dataclass(frozen=True)
class Pads:
    """Elements put before and behind each spatial axis."""

    heads: Lengths
    tails: Lengths

    def __bool__(self) -> bool:
        """Whether anything is padded."""
        return any(self.heads) or any(self.tails)

    @property
    def spelled(self) -> list[int]:
        """The `pads` attribute: all heads, then all tails."""
        return [*self.heads, *self.tails]


@dataclass(frozen=True)
class Window:
    """One entry for each spatial axis, defaults filled in.

    Attributes:
        kernel: how many elements a window reads.
        strides: how far it moves.
        dilations: how far its elements lie apart.
        pads: as `pads` says; nothing where auto_pad decides.
        auto_pad: NOTSET, VALID, SAME_UPPER or SAME_LOWER.
        ceil: ceil_mode is on.
    """

    kernel: Lengths
    strides: Lengths
    dilations: Lengths
    pads: Pads
    auto_pad: str
    ceil: bool

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.kernel)

    @property
    def extents(self) -> Lengths:
        """How many places a window spans, gaps included."""
        return tuple(
            (k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)
        )

    @property
    def is_dilated(self) -> bool:
        """Whether any window has gaps."""
        return self.extents != self.kernel

    @property
    def closed(self) -> Window:
        """The same window without gaps."""
        return replace(self, dilations=(1,) * self.rank)

    @property
    def is_same(self) -> bool:
        """Whether auto_pad asks for outputs as long as the input over the stride."""
        return self.auto_pad in {"SAME_LOWER", "SAME_UPPER"}

    def pads_for(self, lengths: Sequence[int]) -> Pads:
        """Return the explicit pads for an input of spatial `lengths`."""
        if not self.is_same:
            return self.pads
        totals = [max(total, 0) for total in self.totals_for(lengths)]
        small = tuple(total // 2 for total in totals)
        large = tuple(total - total // 2 for total in totals)
        return Pads(small, large) if self.auto_pad == "SAME_UPPER" else Pads(large, small)

    def totals_for(self, lengths: Sequence[int]) -> list[int]:
        """Return what auto_pad SAME pads each axis by; negative where it would crop."""
        axes = zip(lengths, self.strides, self.extents, strict=True)
        return [(-(-n // s) - 1) * s + extent - n for n, s, extent in axes]

    def outputs_for(self, lengths: Sequence[int]) -> Lengths:
        """Return the spatial lengths of the output."""
        if self.is_same:
            return tuple(-(-n // s) for n, s in zip(lengths, self.strides, strict=True))
        axes = zip(
            lengths,
            self.strides,
            self.extents,
            self.pads.heads,
            self.pads.tails,
            strict=True,
        )
        return tuple(
            _windows(n + head + tail - extent, s, n + head, ceil=self.ceil)
            for n, s, extent, head, tail in axes
        )

    def tails_read(self, lengths: Sequence[int], counts: Lengths | None = None) -> Lengths:
        """Return how far past the end of the input each axis's last window reads.

        Args:
            lengths: of the input.
            counts: how many windows there are, where they are not ONNX's.
        """
        axes = zip(
            lengths,
            self.outputs_for(lengths) if counts is None else counts,
            self.strides,
            self.extents,
            self.pads_for(lengths).heads,
            strict=True,
        )
        return tuple(
            max((count - 1) * s + extent - n - head, 0)
            for n, count, s, extent, head in axes
        )


def _windows(room: int, stride: int, end: int, *, ceil: bool) -> int:
    """Count the windows that begin at 0, stride, ... up to `room`, before `end`."""
    if not ceil:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= end else count


def read_window(node: ir.Node) -> Window | None:
    """Read a pool or a convolution; None where nothing tells the kernel's shape.

    None too where its attributes are of different ranks, a window or step is empty, or
    auto_pad is no word of ONNX.
    """
    kernel = kernel_shape(node)
    auto_pad = node.attributes.get_string("auto_pad", "NOTSET")
    if not kernel or not _fits(node, kernel) or auto_pad not in AUTO_PADS:
        return None
    rank = len(kernel)
    pads = ints(node, "pads") or (0,) * (2 * rank)
    nothing = Pads((0,) * rank, (0,) * rank)
    return Window(
        kernel,
        ints(node, "strides") or (1,) * rank,
        ints(node, "dilations") or (1,) * rank,
        Pads(pads[:rank], pads[rank:]) if auto_pad == "NOTSET" else nothing,
        auto_pad,
        node.attributes.get_int("ceil_mode", 0) == 1,
    )


def _fits(node: ir.Node, kernel: Lengths) -> bool:
    """Return whether all attributes are of the kernel's rank, and it of the input's."""
    steps = [ints(node, name) or kernel for name in ("strides", "dilations")]
    pads = ints(node, "pads")
    return (
        all(len(each) == len(kernel) and min(each) > 0 for each in (kernel, *steps))
        and (pads is None or len(pads) == 2 * len(kernel))
        and spatial_rank(node) == len(kernel)
    )


def counts_padding(node: ir.Node) -> bool:
    """Whether an average divides by padded elements too."""
    return node.attributes.get_int("count_include_pad", 0) != 0


def kernel_shape(node: ir.Node) -> Lengths | None:
    """Return the kernel's spatial shape: the attribute, else that of the weights."""
    if (given := ints(node, "kernel_shape")) or node.op_type in POOLS:
        return given
    weights = static_shape(input_at(node, 1))
    return weights[2:] if weights else None


def lengths_of(node: ir.Node) -> Lengths | None:
    """Return the spatial lengths of what `node` reads, None where one is not fixed."""
    value = node.inputs[0]
    if value is None or value.shape is None:
        return None
    dims = tuple(value.shape)[2:]
    fixed = tuple(d for d in dims if isinstance(d, int))
    return fixed if dims and len(fixed) == len(dims) else None


def lengths_in_gears(node: ir.Node) -> list[Lengths]:
    """Return them for every gear, or the fixed ones alone; none if they are unknown."""
    if (fixed := lengths_of(node)) is not None:
        return [fixed]
    kernel, shapes = kernel_shape(node) or (), shapes_of(node.inputs[0])
    fits = all(len(shape) == 2 + len(kernel) for shape in shapes)
    return [shape[2:] for shape in shapes] if fits else []


def lengths_for_pads(node: ir.Node, window: Window) -> Lengths | None:
    """Return spatial lengths that auto_pad comes out right for, None where one is open.

    At stride 1 SAME pads by the extent less 1 at any length: an open one counts as 1.
    Where every gear is padded alike, by 0 or more, the first stands for all.
    """
    value = node.inputs[0]
    if value is not None and value.shape is not None:
        axes = zip(tuple(value.shape)[2:], window.strides, strict=True)
        lengths = tuple(1 if s == 1 and not isinstance(n, int) else n for n, s in axes)
        fixed = tuple(n for n in lengths if isinstance(n, int))
        if len(fixed) == len(lengths):
            return fixed
    gears = lengths_in_gears(node)
    totals = {tuple(window.totals_for(each)) for each in gears}
    return gears[0] if len(totals) == 1 and min(min(each) for each in totals) >= 0 else None


def spatial_rank(node: ir.Node) -> int | None:
    """Return how many spatial axes `node` works on, by its input, else by its kernel."""
    value = node.inputs[0]
    if value is not None and value.shape is not None:
        return len(value.shape) - 2
    kernel = kernel_shape(node)
    return len(kernel) if kernel else None


def ints(node: ir.Node, name: str) -> Lengths | None:
    """Return a list attribute, None where it is absent or empty."""
    return tuple(node.attributes.get_ints(name, ())) or None
