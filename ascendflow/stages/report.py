"""report: the verdict and the numbers behind it, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import read_json, write_json
from ascendflow.report.collect import collect
from ascendflow.report.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.stages.stage import StageContext


class Report:
    """Write report.json and one self-contained report.html."""

    name: ClassVar[str] = "report"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {
            "verdict.json",
            "golden.json",
            "metrics.json",
            "evaluation.json",
            "conversion.json",
            "rewrite.json",
            "check.json",
            "nodes.json",
            "warnings.json",
        }
    )
    produces: ClassVar[frozenset[str]] = frozenset({"report.json", "report.html"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the template engine."""
        del config
        return ("jinja2",)

    def run(self, ctx: StageContext) -> None:
        """Join the documents and write both forms."""
        report = collect({role: read_json(path) for role, path in ctx.inputs.items()})
        write_json(ctx.outputs["report.json"], report)
        ctx.outputs["report.html"].write_text(render(report), encoding="utf-8")
