"""rewrite: simplified ONNX -> the same graph, edited by the rules of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.graph.files import DATA_FILE, MODEL_FILE
from ascendflow.stages.stage import KeptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.graph.rewrite import Cures, Request
    from ascendflow.graph.rule import Rule
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
        if config.get("auto"):
            return ("onnx", "onnx-ir", "onnxruntime")  # which lint asks for kernels
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
        rules = ctx.config["rules"]
        own = [(each["file"], each["name"]) for each in rules if each.get("file")]
        done = rewrite(
            source / MODEL_FILE,
            target / MODEL_FILE,
            requests(rules),
            own=_users_rules(ctx.folder, own),
            gears=ctx.config.get("gears", ()),
            choose=_chooser(ctx.config.get("auto"), ctx.files),
        )
        if (source / DATA_FILE).exists():
            ctx.findings.kept[f"rewritten/{DATA_FILE}"] = KeptFile("simplified", DATA_FILE)
        ctx.findings.warnings.extend(done.warnings)
        write_json(ctx.outputs["rewrite.json"], done.log)


def _users_rules(folder: Path, named: list[tuple[str, str]]) -> list[Rule]:
    if not named:
        return []
    from ascendflow.stages.users_rules import load_rules

    return load_rules(folder, named)


def _chooser(
    target: Mapping[str, str] | None, files: Mapping[str, Path]
) -> Callable[[ir.Model], Cures] | None:
    """Return what chooses rules for a target; None where the manifest names them.

    The module is not imported here by name: it is this stage's code only then (`plan`).
    """
    if target is None:
        return None
    from importlib import import_module

    choose = import_module("ascendflow.cann.auto").choose
    return lambda model: choose(model, target, files)


def requests(rules: list[Mapping[str, Any]]) -> list[Request]:
    """Read the manifest's slice: name, and where given nodes, their count, arguments."""
    from ascendflow.graph.rewrite import Request

    return [
        Request(
            rule["name"],
            None if rule.get("nodes") is None else tuple(rule["nodes"]),
            rule.get("count"),
            rule.get("arguments", {}),
        )
        for rule in rules
    ]
