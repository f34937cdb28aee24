"""rewrite: simplified ONNX -> the same graph, edited by the rules of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.graph.files import DATA_FILE, MODEL_FILE
from ascendflow.stages.stage import KeptFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.graph.rewrite import Request
    from ascendflow.stages.stage import StageContext


class Rewrite:
    """Apply rules in the order of RULES, in place, names kept."""

    name: ClassVar[str] = "rewrite"
    consumes: ClassVar[frozenset[str]] = frozenset({"simplified"})
    produces: ClassVar[frozenset[str]] = frozenset({"rewritten", "rewrite.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what writes the file; without a rule it is copied."""
        return ("onnx", "onnx-ir") if config["rules"] else ()

    def run(self, ctx: StageContext) -> None:
        """Write the rewritten model and the log; weights beside it stay where they are.

        Raises:
            StageError: an unknown rule, a selector that fits nothing or too much, or an
                edit that leaves an invalid model.
        """
        from ascendflow.graph.rewrite import rewrite

        source, target = ctx.inputs["simplified"], ctx.outputs["rewritten"]
        target.mkdir(parents=True)
        done = rewrite(
            source / MODEL_FILE, target / MODEL_FILE, requests(ctx.config["rules"])
        )
        if (source / DATA_FILE).exists():
            ctx.findings.kept[f"rewritten/{DATA_FILE}"] = KeptFile("simplified", DATA_FILE)
        ctx.findings.warnings.extend(done.warnings)
        write_json(ctx.outputs["rewrite.json"], done.log)


def requests(rules: list[Mapping[str, Any]]) -> list[Request]:
    """Read the manifest's slice: name, and where given the nodes and their count."""
    from ascendflow.graph.rewrite import Request

    return [
        Request(
            rule["name"],
            None if rule.get("nodes") is None else tuple(rule["nodes"]),
            rule.get("count"),
        )
        for rule in rules
    ]
