"""lint: where the target is known to differ from ONNX on the rewritten model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.report.findings import rejection_lines, warning_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.stages.stage import StageContext


class Lint:
    """Find every deviation; what the target refuses ends the run here."""

    name: ClassVar[str] = "lint"
    consumes: ClassVar[frozenset[str]] = frozenset({"rewritten"})
    produces: ClassVar[frozenset[str]] = frozenset({"lint.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004, the protocol's
        """Name what reads the graph."""
        return ("numpy", "onnx", "onnx-ir")

    def run(self, ctx: StageContext) -> None:
        """Write the findings; those that are no rejection become warnings.

        Raises:
            NotModelledError: nothing is known of the target, or its settings are refused.
            StageError: the target refuses the model; names all nodes and cures.
        """
        from ascendflow.cann.survey import survey
        from ascendflow.cann.target import why_refused

        if (reason := why_refused(ctx.config)) is not None:
            raise NotModelledError(f"lint: {reason}")
        model = ctx.inputs["rewritten"] / MODEL_FILE
        document = survey(model, ctx.config, all_weights=True)
        write_json(ctx.outputs["lint.json"], document)
        if document["totals"]["rejected"]:
            listed = "\n".join(f"  {line}" for line in rejection_lines(document))
            raise StageError(
                f"lint: CANN {document['cann']} refuses:\n{listed}",
                hint="change these nodes, or name the rules in the manifest; "
                "`rewrite: {rules: auto}` takes all that can help",
            )
        ctx.findings.warnings.extend(warning_texts(document))
