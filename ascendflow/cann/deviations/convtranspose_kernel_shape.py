"""ConvTranspose without kernel_shape, or 1-D with lists that are too short: refused.

1. The parser asks for kernel_shape, although the weights have it.
2. A 1-D node runs as a 2-D one. Up to 6.0 output_padding and output_shape are not filled
   up to two numbers, and the parser fails on the missing one. Master fills them up.

Sources: canndev `conv_transpose_plugin.cc`, 2021-10 to 2022-06; ops-nn master
`conv_transpose_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import ints

if TYPE_CHECKING:
    import onnx_ir as ir


class ConvTransposeKernelShape(NodeDeviation):
    """Cases 1 and 2 of the module's text."""

    name: ClassVar[str] = "convtranspose-kernel-shape"
    op_types: ClassVar[frozenset[str]] = frozenset({"ConvTranspose"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = (
        "kernel_shape may be left out; a 1-D node has lists of one number."
    )
    cann: ClassVar[str] = (
        "The parser fails without kernel_shape, and up to 6.0 on output_padding and "
        "output_shape of a 1-D node."
    )
    cure: ClassVar[str | None] = "convtranspose-attributes"
    source: ClassVar[str] = (
        "canndev conv_transpose_plugin.cc 2021-10 to 2022-06; ops-nn master "
        "conv_transpose_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for a missing list, or a short one."""
        kernel = ints(node, "kernel_shape")
        if kernel is None:
            return Found("it has no kernel_shape", "rejected")
        if len(kernel) == 1 and not conditions.profile.is_open:
            for name in ("output_padding", "output_shape"):
                if (given := ints(node, name)) is not None:
                    return Found(f"it is 1-D and has {name} {list(given)}", "rejected")
        return Harmless("it has the lists that the parser asks for")
