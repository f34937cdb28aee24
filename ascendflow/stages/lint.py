"""lint: where the target is known to differ from ONNX on the rewritten model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.cann.reasons import TAKE_OUT
from ascendflow.documents.json_file import read_json, write_json
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.report.findings import refusal_text, warning_texts
from ascendflow.vocabulary import LOSSY_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.documents.lint import Lint as LintDocument
    from ascendflow.stages.stage import StageContext


class Lint:
    """Find every deviation; what `convert` would refuse ends the run here.

    Where ATC converts, what is not known here ends nothing: ATC judges it.
    """

    name: ClassVar[str] = "lint"
    consumes: ClassVar[frozenset[str]] = frozenset({"rewritten", "nodes.json"})
    produces: ClassVar[frozenset[str]] = frozenset({"lint.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004, the protocol's
        """Name what reads the graph, and what is asked for kernels."""
        return ("numpy", "onnx", "onnx-ir", "onnxruntime")

    def run(self, ctx: StageContext) -> None:
        """Write the findings; those that stop nothing become warnings.

        Nor does what is unknown, where a real ATC will say.

        Raises:
            NotModelledError: nothing is known of the target, or its settings are refused;
                or of what it does with a node; and the target is emulated.
            StageError: the target refuses the model; names all nodes and cures.
        """
        from ascendflow.cann.setting_files import settings_in
        from ascendflow.cann.survey import survey, unsurveyed
        from ascendflow.cann.target import why_refused

        model = ctx.inputs["rewritten"] / MODEL_FILE
        emulated = ctx.config["emulated"]
        config = {**ctx.config, **settings_in(ctx.files)}
        if (reason := why_refused(config)) is None:
            document = survey(
                model, config, all_weights=True, gears=config.get("gears", ())
            )
        elif emulated:
            raise NotModelledError(f"lint: {reason}")
        else:
            document = unsurveyed(model, config)
            ctx.findings.warnings.append(f"{reason}; nothing was looked for, ATC judges")
        write_json(ctx.outputs["lint.json"], document)
        nodes = read_json(ctx.inputs["nodes.json"])["nodes"]
        lines = {name: origin["source"] for name, origin in nodes.items()}
        if refused := refusal_text(document, emulated=emulated, lines=lines):
            kind = StageError if document["totals"]["rejected"] else NotModelledError
            raise kind(f"lint: {refused}", hint=_hint(document))
        ctx.findings.warnings.extend(
            warning_texts(document, emulated=emulated, lines=lines)
        )


def _hint(document: LintDocument) -> str:
    """Speak of rules only where one would help, which then was not applied."""
    refused = [each for each in document["findings"] if each["stops_convert"]]
    rules = {each["rule"] for each in refused if each["skipped"] is None} - {None}
    kept = [each["node"] for each in refused if each["advice"] == TAKE_OUT]
    if kept:
        return (
            f"convert.keep_dtype keeps {', '.join(map(str, kept))} in types that no kernel "
            "takes there; take out what it names so (`ascendflow precision FILE --soc SOC "
            "--keep-dtype NODE` says what can be kept)"
        )
    if not rules:
        return "no rule helps here: change the model, as each line says"
    change = "change these nodes, or name the rules in the manifest"
    if rules <= LOSSY_RULES.keys():
        return change
    return f"{change}; `rewrite: {{rules: auto}}` takes all that can help and lose nothing"
