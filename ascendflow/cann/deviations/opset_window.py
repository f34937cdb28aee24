"""The opsets that CANN's parser knows: 8 to 15, later 8 to 18.

Plugins are registered for `ai.onnx::<opset of the model>::<operator>`, from 8 on; canndev
ends at 15, the open repositories at 18. A model outside has no parser for any of its
nodes: "No ONNX parser is registered" (E16002; E19010 in older releases). Where between 15
and 18 the releases from 6.1 to 8.4 end is not known.

Sources: GE `onnx_parser.cc` (ConstructOriType, AdapterOpType); canndev `onnx_plugin`,
2022-06; ops-nn, ops-cv, ops-math, 8.5.0 to master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, ModelDeviation
from ascendflow.graph.nodes import model_opset
from ascendflow.manifest import opsets

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class OpsetWindow(ModelDeviation):
    """A model opset that no plugin is registered for."""

    name: ClassVar[str] = "opset-window"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "A model may be written in any opset."
    cann: ClassVar[str] = (
        f"Only opsets {opsets.LOWEST} to {opsets.SURE} have parsers up to 6.0, "
        f"{opsets.LOWEST} to {opsets.HIGHEST} in the open repositories; any other model is "
        "refused (E16002, E19010)."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        f"{opsets.AGAIN}: `export: {{opset: {opsets.SURE}}}` where the source is PyTorch;"
        " for an ONNX file that you cannot export,"
        f" onnx.version_converter.convert_version(model, {opsets.SURE}) may do, which can"
        " change values: compare its outputs with the old file's"
    )
    source: ClassVar[str] = (
        "GE onnx_parser.cc ConstructOriType; canndev onnx_plugin 2022-06; ops-nn, ops-cv, "
        "ops-math 8.5.0 to master"
    )

    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Compare the model's opset with the profile's window."""
        opset = model_opset(model)
        low, high = conditions.profile.opsets
        if opset is None or not low <= opset <= high:
            version = conditions.profile.version
            reason = f"CANN {version} parses opsets {low} to {high}, not {opset}"
            yield None, Found(reason, "rejected")
