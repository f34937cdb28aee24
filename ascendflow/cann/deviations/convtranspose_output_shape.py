"""ConvTranspose with output_shape or auto_pad: which pads CANN takes is not known.

ONNX crops stride * (n - 1) + extent + output_padding - output_shape in all, and the odd
one in front, or behind for SAME_UPPER. canndev has two formulas:

* Conv2DTranspose crops extent - stride, split as ONNX does, whatever output_shape says;
* Conv2DTransposeD crops by output_shape, without output_padding, and puts the odd one at
  the other end.

Which of them is asked depends on passes that were not followed, and from 8.5 on neither is
in the open. Where all three agree there is nothing to know. auto_pad without output_shape
reads an output_shape of 0 in the second. Of a 1-D node both attributes go to the Squeeze
behind it.

Sources: canndev `conv_transpose_plugin.cc`, `nn_calculation_ops.cc`
(SetConv2dbpPadsByPadding, ProcessOnnxAttr), 2022-06; ops-nn master
`conv_transpose_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.transposed import Transposed, read_transposed
from ascendflow.graph.windows import lengths_of

if TYPE_CHECKING:
    import onnx_ir as ir


PICTURE = 2


class ConvTransposeOutputShape(NodeDeviation):
    """Pads that two formulas give in two ways."""

    name: ClassVar[str] = "convtranspose-output-shape"
    op_types: ClassVar[frozenset[str]] = frozenset({"ConvTranspose"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "output_shape and auto_pad say how much of the output is cropped."
    cann: ClassVar[str] = (
        "output_shape without auto_pad forces SAME_LOWER, and two formulas read it "
        "differently."
    )
    cure: ClassVar[str | None] = "convtranspose-attributes"
    source: ClassVar[str] = (
        "canndev conv_transpose_plugin.cc, nn_calculation_ops.cc 2022-06; ops-nn master "
        "conv_transpose_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compare the three formulas."""
        transposed = read_transposed(node)
        auto_pad = node.attributes.get_string("auto_pad", "NOTSET")
        output_shape = None if transposed is None else transposed.output_shape
        if transposed is None or (output_shape is None and auto_pad == "NOTSET"):
            return Harmless("it says its pads")
        lengths = lengths_of(node)
        if lengths is not None and _all_agree(transposed, lengths):
            return Harmless("every formula crops the same")
        if output_shape is None:
            return Found(f"how auto_pad {auto_pad} is read is not known", "unknown")
        onnx = "" if lengths is None else f"; in ONNX {_spelled(transposed, lengths)}"
        return Found(
            f"which pads output_shape {list(output_shape)} leads to is not known{onnx}",
            "unknown",
        )


def _all_agree(transposed: Transposed, lengths: tuple[int, ...]) -> bool:
    if transposed.rank != PICTURE or transposed.output_shape is None:
        return False
    if any(transposed.output_padding) or transposed.auto_pad == "VALID":
        return False
    plain = tuple(
        max(extent - stride, 0)
        for extent, stride in zip(transposed.extents, transposed.strides, strict=True)
    )
    totals = transposed.totals(lengths)
    return totals == plain and not any(total % 2 for total in totals)


def _spelled(transposed: Transposed, lengths: tuple[int, ...]) -> str:
    pads, extra = transposed.explicit(lengths)
    more = f", output_padding {list(extra)}" if any(extra) else ""
    return f"pads {pads.spelled}{more}"
