"""Conv of volumes with auto_pad: CANN refuses it.

Up to 6.0 the parser fails on any auto_pad but NOTSET, master on any but NOTSET and VALID.
1-D and 2-D convolutions take auto_pad as ONNX means it.

Sources: canndev `conv_plugin.cc`, 2022-03 to 2022-06, and `nn_calculation_ops.cc`; ops-nn
master `conv_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import VOLUME, spatial_rank

if TYPE_CHECKING:
    import onnx_ir as ir


class Conv3dAutoPad(NodeDeviation):
    """auto_pad that the parser does not take."""

    name: ClassVar[str] = "conv3d-auto-pad"
    op_types: ClassVar[frozenset[str]] = frozenset({"Conv"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "auto_pad holds for convolutions of any rank."
    cann: ClassVar[str] = (
        "The parser fails on auto_pad of a 3-D convolution; from 8.5 on VALID is taken."
    )
    cure: ClassVar[str | None] = "auto-pad-to-pads"
    source: ClassVar[str] = (
        "canndev conv_plugin.cc 2022-03 to 2022-06; ops-nn master conv_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Look for auto_pad on three spatial axes."""
        taken = {"NOTSET", "VALID"} if conditions.profile.is_open else {"NOTSET"}
        auto_pad = node.attributes.get_string("auto_pad", "NOTSET")
        if auto_pad in taken or spatial_rank(node) != VOLUME:
            return Harmless(f"auto_pad {auto_pad} of this rank is taken")
        return Found(f"auto_pad is {auto_pad} on three spatial axes", "rejected")
