"""ConvTranspose behind one with output_shape: CANN forces auto_pad SAME_LOWER on it.

Two flags of the parser, "output_shape was set" and "auto_pad was set", belong to the file,
not to the node, and are never cleared. Once a node had output_shape, and as long as none
had auto_pad, each ConvTranspose that follows gets auto_pad SAME_LOWER, which overrides its
pads. What comes of it is as uncertain as with output_shape itself. Of a 1-D node the
attribute goes to the Squeeze behind it, where nothing reads it.

Sources: canndev `conv_transpose_plugin.cc`, 2021-05 to 2022-06; ops-nn master
`conv_transpose_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, ModelDeviation
from ascendflow.graph.nodes import label
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.windows import ints, spatial_rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class ConvTransposeLeakingFlags(ModelDeviation):
    """What one node says, said of those behind it."""

    name: ClassVar[str] = "convtranspose-leaking-flags"
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "A node's attributes are its own."
    cann: ClassVar[str] = (
        "Behind one ConvTranspose with output_shape, others get auto_pad SAME_LOWER."
    )
    cure: ClassVar[str | None] = "convtranspose-attributes"
    source: ClassVar[str] = (
        "canndev conv_transpose_plugin.cc 2021-05 to 2022-06; ops-nn master "
        "conv_transpose_onnx_plugin.cpp"
    )

    def detect(
        self,
        model: ir.Model,
        conditions: Conditions,  # noqa: ARG002
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Follow the flags from node to node."""
        source: ir.Node | None = None
        for node in model.graph.all_nodes():
            if node.op_type != "ConvTranspose" or node.domain not in DEFAULT_DOMAINS:
                continue
            if "auto_pad" in node.attributes:
                return
            if ints(node, "output_shape"):
                source = source or node
            elif source is not None and spatial_rank(node) != 1:
                yield (
                    node,
                    Found(
                        f"it gets auto_pad SAME_LOWER, since {label(source)!r} before it "
                        "has output_shape",
                        "unknown",
                    ),
                )
