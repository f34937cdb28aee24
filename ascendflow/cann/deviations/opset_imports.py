"""One opset import, and no more.

A node of the empty domain is looked up in the model's only import; where opset_import has
two entries, whatever they are, the parser refuses the model (E16005). An import that no
node uses is enough.

Exported models come with the imports they need only, since the export stage drops the
others; a rewrite drops those that its rules made needless.

Sources: GE `onnx_parser.cc` (ConstructOriType), the same in 8.5.0 to 9.1.0 and in the
older parser whose error is ATCReportErrMessage("E16005"); 8.1.RC1 `error_code.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, Confidences, ModelDeviation
from ascendflow.graph.nodes import nodes_of
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class OpsetImports(ModelDeviation):
    """More than one entry in opset_import."""

    name: ClassVar[str] = "opset-imports"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "A model may import any number of domains, used or not."
    cann: ClassVar[str] = (
        "Where a node has the empty domain, opset_import must have exactly one entry "
        "(E16005)."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "drop the imports that no node uses; replace the nodes of the other domains"
    )
    source: ClassVar[str] = (
        "GE onnx_parser.cc ConstructOriType, 8.5.0 to 9.1.0; CANN 8.1.RC1 error_code.json "
        "E16005"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """Read in the parser itself, old and new."""

    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Count the imports."""
        del conditions  # the same everywhere
        nodes = list(nodes_of(model))
        own = any(n.domain in DEFAULT_DOMAINS and n.op_type != "Constant" for n in nodes)
        imports = model.graph.opset_imports
        if len(imports) < 2 or not own:
            return
        used = {node.domain for node in nodes}
        listed = ", ".join(
            f"{domain!r} {version}"
            + ("" if domain in used or domain in DEFAULT_DOMAINS else " (unused)")
            for domain, version in imports.items()
        )
        reason = f"opset_import has {len(imports)} entries, not one: {listed}"
        yield None, Found(reason, "rejected")
