"""The attributes of ConvTranspose with their defaults, and the pads they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.graph.windows import Pads, ints, kernel_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    from ascendflow.graph.windows import Lengths


@dataclass(frozen=True)
class Transposed:
    """One entry for each spatial axis.

    Attributes:
        kernel: the kernel's shape.
        strides: of the output.
        dilations: how far the kernel's elements lie apart.
        pads: how much is cropped off the output; nothing where auto_pad decides.
        output_padding: how much is added at its end.
        output_shape: its lengths, where they are given.
        auto_pad: NOTSET, VALID, SAME_UPPER or SAME_LOWER.
    """

    kernel: Lengths
    strides: Lengths
    dilations: Lengths
    pads: Pads
    output_padding: Lengths
    output_shape: Lengths | None
    auto_pad: str

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.kernel)

    @property
    def is_explicit(self) -> bool:
        """Whether pads and output_padding say all."""
        return self.output_shape is None and self.auto_pad in {"NOTSET", "VALID"}

    @property
    def extents(self) -> Lengths:
        """How many places a kernel spans."""
        axes = zip(self.kernel, self.dilations, strict=True)
        return tuple((k - 1) * d + 1 for k, d in axes)

    def totals(self, lengths: Sequence[int]) -> Lengths:
        """Return how much is cropped off each axis; negative where it is too short."""
        wanted = self.output_shape or tuple(
            n * s for n, s in zip(lengths, self.strides, strict=True)
        )
        axes = zip(
            lengths, self.strides, self.extents, self.output_padding, wanted, strict=True
        )
        return tuple((n - 1) * s + extent + more - w for n, s, extent, more, w in axes)

    def explicit(self, lengths: Sequence[int]) -> tuple[Pads, Lengths]:
        """Return pads and output_padding for an input of spatial `lengths`."""
        if self.is_explicit:
            return self.pads, self.output_padding
        totals = self.totals(lengths)
        extra = tuple(
            more + max(-total, 0)
            for more, total in zip(self.output_padding, totals, strict=True)
        )
        small = tuple(max(total, 0) // 2 for total in totals)
        large = tuple(max(total, 0) - s for total, s in zip(totals, small, strict=True))
        upper = self.auto_pad == "SAME_UPPER"
        return (Pads(small, large) if upper else Pads(large, small)), extra


def read_transposed(node: ir.Node) -> Transposed | None:
    """Read a ConvTranspose; None where nothing tells the kernel's shape."""
    kernel = kernel_shape(node)
    if not kernel:
        return None
    rank = len(kernel)
    auto_pad = node.attributes.get_string("auto_pad", "NOTSET")
    pads = ints(node, "pads") or (0,) * (2 * rank)
    if auto_pad != "NOTSET":
        pads = (0,) * (2 * rank)
    return Transposed(
        kernel,
        ints(node, "strides") or (1,) * rank,
        ints(node, "dilations") or (1,) * rank,
        Pads(pads[:rank], pads[rank:]),
        ints(node, "output_padding") or (0,) * rank,
        ints(node, "output_shape"),
        auto_pad,
    )
