"""export: PyTorch, or an ONNX file, -> the canonical ONNX model everything starts from."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.cut import cut, why_not_cut
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.ingest import accept, check, read_model, refuse
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.opset import convert_opset, hold_to_original
from ascendflow.graph.refusals import why_refused
from ascendflow.stages.random_tensors import drawn_from, random_tensor
from ascendflow.tensors import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import onnx

    from ascendflow.documents.nodes import NodeOrigin, NodesDocument
    from ascendflow.graph.fixed_shapes import Opened
    from ascendflow.stages.stage import StageContext


class Export:
    """Make `exported/model.onnx`: unique names, canonical bytes, and static input shapes.

    Those sizes stay open that the target leaves open.
    """

    name: ClassVar[str] = "export"
    consumes: ClassVar[frozenset[str]] = frozenset()
    produces: ClassVar[frozenset[str]] = frozenset({"exported", "nodes.json"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = True

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what reads, converts and writes the graph."""
        own = ("numpy", "onnx", "onnx-ir")
        return (*own, "onnxruntime", "onnxscript", "torch") if config.get("torch") else own

    def run(self, ctx: StageContext) -> None:
        """Export or ingest, refuse, fix the input shapes, write.

        Raises:
            StageError: the source cannot be exported or read, or holds something that no
                pipeline may start from; all findings are listed at once.
        """
        specs = ctx.config["inputs"]
        inputs = tuple(TensorSpec(i["name"], i["dtype"], tuple(i["shape"])) for i in specs)
        opened = {each["name"]: each["open"] for each in specs if "open" in each}
        if ctx.config.get("torch"):
            beside = ctx.outputs["exported"].parent  # a memory disk may be too small
            with TemporaryDirectory(prefix="exporter-", dir=beside) as folder:
                _export(ctx, inputs, opened, Path(folder) / MODEL_FILE)
        else:
            source = ctx.files["source"]
            model = read_model(source)
            if named := ctx.config.get("out_nodes"):
                refuse(source.name, why_not_cut(model, named))
                cut(model, named)
            accept(model, source.name, inputs, ctx.config.get("opset"), opened)
            _write(ctx, model, source, {})


def _export(
    ctx: StageContext, inputs: tuple[TensorSpec, ...], opened: Opened, file: Path
) -> None:
    """Run torch's exporter into the temporary `file`, then take that in."""
    from ascendflow.pytorch.exporter import export
    from ascendflow.pytorch.model import build_model
    from ascendflow.pytorch.origins import origins_by_tensor

    opset, source = ctx.config["opset"], ctx.config["torch"]
    ranges = ctx.config.get("ranges") or {}
    examples = _examples(inputs, opened, ranges, ctx.seed)
    network = build_model(ctx.folder, source, ctx.files.get("weights"), ctx.seed)
    ctx.findings.warnings += export(
        network,
        examples,
        file,
        exporter=ctx.config["exporter"],
        opset=opset,
        opened=opened,
        drawn=_how_drawn(inputs, ranges),
    )
    model = read_model(file)
    origins = origins_by_tensor(model, ctx.folder)
    moved = (written := opset_of(model)) != opset
    # Before it is converted, which names nodes anew, and while their lines are known.
    sources = {tensor: origin["source"] for tensor, origin in origins.items()}
    refuse("the exported model", why_refused(model, sources))
    if moved:
        model = convert_opset(model, opset)
        ctx.findings.facts["converted_from_opset"] = written
    accept(model, "the exported model", inputs, opset, opened)
    _write(ctx, model, file, origins)
    if moved:
        hold_to_original(file, ctx.outputs["exported"] / MODEL_FILE, examples)


def _examples(
    inputs: tuple[TensorSpec, ...],
    opened: Opened,
    ranges: Mapping[str, Sequence[float]],
    seed: int,
) -> dict[str, np.ndarray]:
    """Draw one example of each input from its spec: no sample may change the graph.

    An open size of 1 is made 2: torch would take the 1 for one that broadcasts.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    examples = {}
    for spec in inputs:
        open_sizes = opened.get(spec.name, ())
        shape = [
            max(2, length) if index in open_sizes else length
            for index, length in enumerate(spec.shape)
        ]
        drawn = TensorSpec(spec.name, spec.dtype, tuple(shape))
        examples[spec.name] = random_tensor(drawn, generator, ranges.get(spec.name))
    return examples


def _how_drawn(
    inputs: tuple[TensorSpec, ...], ranges: Mapping[str, Sequence[float]]
) -> str:
    """Say what `_examples` holds, e.g. "'ids': integers from [0, 2)"."""
    drawn = {spec.name: drawn_from(spec, ranges.get(spec.name)) for spec in inputs}
    return ", ".join(f"{name!r}: {what}" for name, what in drawn.items())


def _write(
    ctx: StageContext,
    model: onnx.ModelProto,
    source: Path,
    origins: Mapping[str, NodeOrigin],
) -> None:
    """Write both artifacts of what came in as the file `source`."""
    canonicalise(model)
    name = "the exported model" if ctx.config.get("torch") else source.name
    check(save(model, ctx.outputs["exported"], source.parent), name)
    document: NodesDocument = {
        "schema_version": 1,
        "nodes": {
            node.name: origins[node.output[0]]
            for node in model.graph.node
            if node.output and node.output[0] in origins
        },
    }
    write_json(ctx.outputs["nodes.json"], document)
    ctx.findings.facts["outputs"] = [output.name for output in model.graph.output]
