"""Pools whose stride is so long that auto_pad SAME pads by less than nothing.

ONNX's formula has no bound at 0; onnxruntime crops the input of LpPool and refuses the
others. What CANN's "SAME" does there was not read; elsewhere it ends at 0.

Sources: ONNX operator documents, LpPool-11; canndev `lppool_plugin.cc`,
`max_pool_plugin.cc`, `average_pool_plugin.cc`, 2022-06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.windows import POOLS, lengths_of, read_window

if TYPE_CHECKING:
    import onnx_ir as ir


class LpPoolSameCrops(NodeDeviation):
    """LpPool, which onnxruntime computes."""

    name: ClassVar[str] = "lppool-same-crops"
    op_types: ClassVar[frozenset[str]] = frozenset({"LpPool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "Where auto_pad SAME pads by less than nothing, it crops."
    cann: ClassVar[str] = "What its padding does below 0 was not read."
    cure: ClassVar[str | None] = "auto-pad-to-pads"
    source: ClassVar[str] = (
        "canndev lppool_plugin.cc, max_pool_plugin.cc, average_pool_plugin.cc 2022-06"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compute what each axis is padded by."""
        window, lengths = read_window(node), lengths_of(node)
        if window is None or not window.is_same:
            return Harmless("auto_pad is not SAME")
        if lengths is None:
            return Harmless("its lengths are not fixed, so whether it crops is not known")
        totals = window.totals_for(lengths)
        if min(totals) >= 0:
            return Harmless("no axis is padded by less than nothing")
        return Found(f"auto_pad {window.auto_pad} pads by {totals}", "unknown")


class PoolSameCrops(LpPoolSameCrops):
    """The others, for which there is no value to agree with."""

    name: ClassVar[str] = "pool-same-crops"
    op_types: ClassVar[frozenset[str]] = POOLS - {"LpPool"}
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = "write `pads` in the place of auto_pad"
