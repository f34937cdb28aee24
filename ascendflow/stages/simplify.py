"""simplify: the exported model, folded and fused by onnxsim, proven to give its golden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.fixed_shapes import fix_shapes
from ascendflow.graph.ingest import check
from ascendflow.graph.io_spec import inputs_of, opset_of, outputs_of
from ascendflow.graph.run import OnnxModel
from ascendflow.graph.simplifier import simplify
from ascendflow.graph.structure import read_structure
from ascendflow.graph.traverse import every_node
from ascendflow.stages.agreement import Agreement, compare_outputs, refuse_beyond
from ascendflow.stages.stage import KeptFile
from ascendflow.tensors import TensorSet, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx

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
            _simplify(ctx, before, document)
        else:
            _keep(ctx, exported)
        write_json(ctx.outputs["simplify.json"], document)


def _simplify(
    ctx: StageContext, before: onnx.ModelProto, document: SimplificationDocument
) -> None:
    """Simplify, write, compare with the golden, and fill in `document`."""
    model, setting, failed = simplify(ctx.inputs["exported"] / MODEL_FILE)
    if failed:
        ctx.findings.warnings.append(
            f"onnxsim raised under the setting {failed[0]['setting']!r} and was run "
            f"{setting!r}: {failed[0]['error']}"
        )
    _refuse_another_interface(before, model)
    specs = ctx.config["inputs"]
    fix_shapes(model, [TensorSpec(i["name"], i["dtype"], tuple(i["shape"])) for i in specs])
    canonicalise(model)
    path = save(model, ctx.outputs["simplified"], ctx.outputs["simplified"])
    check(path, "the simplified model")
    document["setting"] = setting
    document["failed"] = failed
    document["nodes_after"] = sum(1 for _ in every_node(model))
    agreements = _compare(ctx, path)
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


def _refuse_another_interface(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Raise where inputs, outputs or opset are not what they were."""
    then, now = inputs_of(before), inputs_of(after)
    if then != now:
        raise StageError(f"onnxsim changed the inputs from {list(then)} to {list(now)}")
    names = [[spec[:2] for spec in outputs_of(model)] for model in (before, after)]
    if names[0] != names[1]:
        raise StageError(f"onnxsim changed the outputs from {names[0]} to {names[1]}")
    if opset_of(before) != opset_of(after):
        raise StageError(
            f"onnxsim changed the opset from {opset_of(before)} to {opset_of(after)}"
        )


def _keep(ctx: StageContext, exported: Path) -> None:
    """Say that every file of `simplified` is one of `exported`."""
    ctx.outputs["simplified"].mkdir()
    for file in sorted(exported.iterdir()):
        ctx.findings.kept[f"simplified/{file.name}"] = KeptFile("exported", file.name)
