"""gate: thresholds + numbers -> verdict.json. Succeeds either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.cache.digest import digest_file
from ascendflow.documents.json_file import read_json, write_json
from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.metrics.divergent import divergent_outputs, first_divergent_node
from ascendflow.metrics.verdict import judge_metric, judge_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.documents.conversion import Conversion
    from ascendflow.documents.metrics import MetricsDocument
    from ascendflow.documents.verdict import Emulation, Verdict
    from ascendflow.stages.stage import StageContext


class Gate:
    """Judge what was measured."""

    name: ClassVar[str] = "gate"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {"golden.json", "metrics.json", "evaluation.json", "conversion.json"}
    )
    produces: ClassVar[frozenset[str]] = frozenset({"verdict.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the seam's
        """Name nothing: the verdict is plain arithmetic."""
        return ()

    def run(self, ctx: StageContext) -> None:
        """Write the verdict, whatever it is.

        Raises:
            StageError: a threshold names no output, or a metric that is not measured.
        """
        documents = {role: read_json(ctx.inputs[role]) for role in sorted(self.consumes)}
        golden, measured = documents["golden.json"], documents["metrics.json"]
        checks = judge_outputs(
            ctx.config["outputs"] or {},
            measured,
            list(golden["outputs"]),
            has_torch=golden["has_torch"],
        )
        if ctx.config["metric"] is not None:
            checks.append(judge_metric(ctx.config["metric"], documents["evaluation.json"]))
        passed = bool(checks) and all(check["passed"] for check in checks)
        targets = [check for check in checks if check["pair"] != OF_THE_EXPORT]
        conversion: Conversion = documents["conversion.json"]
        verdict: Verdict = {
            "schema_version": 1,
            "model": ctx.config["model"],
            "backend": conversion["backend"],
            "is_real_device": conversion["is_real_device"],
            "emulation": _emulation(conversion, measured),
            "cann": conversion["cann"],
            "soc_version": conversion["soc_version"],
            "precision_mode": conversion["precision_mode"],
            "passed": passed,
            "checks": checks,
            "first_divergent_node": first_divergent_node(
                measured["nodes"], gate_passed=all(check["passed"] for check in targets)
            ),
            "divergent_outputs": divergent_outputs(measured["outputs"], checks),
            "judged": {role: digest_file(ctx.inputs[role]) for role in documents},
        }
        write_json(ctx.outputs["verdict.json"], verdict)


def _emulation(conversion: Conversion, measured: MetricsDocument) -> Emulation | None:
    """Repeat how far the emulated target is known; a verdict is read on its own."""
    if conversion["is_real_device"]:
        return None
    emulation: Emulation = {
        "modelled_nodes": conversion["modelled_nodes"],
        "assumed": conversion["assumed"],
        "applied": conversion["applied"],
    }
    if "behaviours" in measured:
        emulation["behaviours"] = measured["behaviours"]
    return emulation
