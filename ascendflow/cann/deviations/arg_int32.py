"""ArgMin and ArgMax: int32 where ONNX has int64.

1. The plugin asks the ArgMin kernel for int32, on every SoC modelled here. Where that
   meets an int64 tensor in an operator that wants equal types, ATC stops; where it is an
   output of the model, it is int32, with the same values.
2. For ArgMax it asks for int64, which the AI Core kernel of 310, 310P and 310B does not
   give; an output of the model may be int32 there.

Values are the same, so the emulator keeps ONNX's type.

Sources: canndev `argmin_plugin.cc`, `argmax_plugin.cc`, `elewise_calculation_ops.cc`;
ops-math 8.5.0 to 9.1.0; 8.1.RC1 `aic-<soc>-ops-info.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.narrow_indices import of_indices

if TYPE_CHECKING:
    import onnx_ir as ir


class ArgInt32(NodeDeviation):
    """Cases 1 and 2 of the module's text."""

    name: ClassVar[str] = "arg-int32"
    op_types: ClassVar[frozenset[str]] = frozenset({"ArgMin", "ArgMax"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown", "precision")
    onnx: ClassVar[str] = "The output, an index, is int64."
    cann: ClassVar[str] = (
        "ArgMin gives int32; ArgMax is asked for int64, which its AI Core kernel on 310, "
        "310P and 310B does not give."
    )
    cure: ClassVar[str | None] = "indices-to-int64"
    source: ClassVar[str] = (
        "canndev argmin_plugin.cc, argmax_plugin.cc; ops-math 8.5.0 to 9.1.0 "
        "argmin_onnx_plugin.cpp; CANN 8.1.RC1 aic-<soc>-ops-info.json"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Follow the output."""
        output = node.outputs[0]
        if node.op_type == "ArgMin":
            return of_indices(output)
        family = conditions.soc.family
        if family not in {"ascend310", "ascend310p", "ascend310b"}:
            return Harmless(f"the kernel of {family} gives int64")
        if output.is_graph_output():
            reason = f"output {output.name!r} may be int32: {family} has no int64 kernel"
            return Found(reason, "precision")
        return Harmless("inside the graph the plugin declares int64")
