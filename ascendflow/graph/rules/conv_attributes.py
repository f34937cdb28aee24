"""Conv: write kernel_shape, which ONNX lets one leave out.

ATC tells 1-D, 2-D and 3-D apart by attributes, and refuses a Conv that has none of
kernel_shape, pads, strides and dilations. The weights' shape says what kernel_shape is.

Source: ONNX operator documents, Conv-11; canndev `conv_plugin.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.windows import ints, kernel_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect


class ConvAttributes(Rule):
    """Spell out what the weights say."""

    name: ClassVar[str] = "conv-attributes"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Conv"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Rewrite one Conv in place."""
        if ints(node, "kernel_shape"):
            yield Skipped(node, "it has kernel_shape")
            return
        kernel = kernel_shape(node)
        if not kernel:
            yield Skipped(node, "the shape of its weights is unknown")
            return
        node.attributes["kernel_shape"] = ir.AttrInt64s("kernel_shape", kernel)
        yield Applied(node, {}, {"kernel_shape": list(kernel)})
