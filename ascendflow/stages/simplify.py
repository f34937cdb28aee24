"""simplify: the exported model, folded and fused by onnxsim, proven to give its golden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.run import OnnxModel
from ascendflow.graph.simplified import simplify_exported
from ascendflow.graph.structure import read_structure
from ascendflow.graph.traverse import every_node
from ascendflow.stages.agreement import Agreement, compare_outputs, refuse_beyond
from ascendflow.stages.stage import KeptFile
from ascendflow.tensors import TensorSet, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.documents.simplification import SimplificationDocument
    from ascendflow.stages.stage import StageContext


class Simplify:
    """Simplify, or pass the exported model on unchanged."""

    name: ClassVar[str] = "simplify"
    consumes: ClassVar[frozenset[str]] = frozenset({"samples", "exported", "golden"})
    produces: ClassVar[frozenset[str]] = frozenset({"simplified", "simplify.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the simplifier, what it folds constants with, and what writes the graph."""
        own = ("numpy", "onnx", "onnx-ir")
        return (*own, "onnxruntime", "onnxsim") if config["enabled"] else own

    def run(self, ctx: StageContext) -> None:
        """Write `simplified` and simplify.json.

        Raises:
            StageError: onnxsim fails, changes the model's interface, or changes its outputs
                beyond `simplify.max_relative_error` of the golden's range.
        """
        exported = ctx.inputs["exported"]
        before = read_structure(exported / MODEL_FILE).model
        document: SimplificationDocument = {
            "schema_version": 1,
            "enabled": bool(ctx.config["enabled"]),
            "setting": None,
            "failed": [],
            "nodes_before": sum(1 for _ in every_node(before)),
            "nodes_after": sum(1 for _ in every_node(before)),
            "outputs": {},
        }
        if ctx.config["enabled"]:
            _simplify(ctx, document)
        else:
            _keep(ctx, exported)
        write_json(ctx.outputs["simplify.json"], document)


def _simplify(ctx: StageContext, document: SimplificationDocument) -> None:
    """Simplify, write, compare with the golden, and fill in `document`."""
    specs = ctx.config["inputs"]
    inputs = [TensorSpec(i["name"], i["dtype"], tuple(i["shape"])) for i in specs]
    folder = ctx.outputs["simplified"]
    model, setting, failed = simplify_exported(
        ctx.inputs["exported"] / MODEL_FILE,
        folder,
        inputs,
        {each["name"]: each["open"] for each in specs if "open" in each},
    )
    if failed:
        ctx.findings.warnings.append(
            f"onnxsim raised under the setting {failed[0]['setting']!r} and was run "
            f"{setting!r}: {failed[0]['error']}"
        )
    document["setting"] = setting
    document["failed"] = failed
    document["nodes_after"] = sum(1 for _ in every_node(model))
    agreements = _compare(ctx, folder / MODEL_FILE)
    document["outputs"] = {name: a.document() for name, a in agreements.items()}


def _compare(ctx: StageContext, path: Path) -> dict[str, Agreement]:
    """Run the simplified model on all samples and hold it to the golden."""
    model = OnnxModel(path, threads=1)
    feeds = TensorSet(ctx.inputs["samples"] / "feeds")
    golden = TensorSet(ctx.inputs["golden"] / "onnx")
    agreements: dict[str, Agreement] = {}
    for sample, fed, trusted in zip(feeds.ids, feeds, golden, strict=True):
        where = f"the simplified model, sample {sample!r},"
        compare_outputs(agreements, trusted, model.run(fed), where=where)
    if model.note:
        ctx.findings.warnings.append(model.note)
    refuse_beyond(
        agreements,
        ctx.config["max_relative_error"],
        what="the simplified model differs from the exported one",
        key="simplify.max_relative_error; simplify.enabled: false leaves the stage out",
    )
    return agreements


def _keep(ctx: StageContext, exported: Path) -> None:
    """Say that every file of `simplified` is one of `exported`."""
    ctx.outputs["simplified"].mkdir()
    for file in sorted(exported.iterdir()):
        ctx.findings.kept[f"simplified/{file.name}"] = KeptFile("exported", file.name)
