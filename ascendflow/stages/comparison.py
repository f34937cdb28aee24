"""What compare measures: outputs over all samples, tensors inside over a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.errors import StageError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.found_boxes import sets_of
from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.worse import farther, worse
from ascendflow.stages.compared_nodes import (
    compare_nodes,
    is_measured_by_tools,
    why_no_tensors,
)
from ascendflow.stages.inner_tensors import InnerTensors
from ascendflow.stages.second_look import look_at_flips
from ascendflow.tensors import ALTERNATIVE, TensorSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.documents.metrics import MetricsDocument, OutputComparison, Pair
    from ascendflow.metrics.measure import Each
    from ascendflow.stages.stage import StageContext


def compare(ctx: StageContext, each: Each) -> MetricsDocument:
    """Measure all that `metrics.json` holds.

    Args:
        ctx: of the stage.
        each: see `measure`.

    Raises:
        StageError: see `Compare.run`.
    """
    models = _behaviours(ctx)
    names = list(models)
    sets = [ctx.inputs["outputs"], ctx.inputs["outputs"] / ALTERNATIVE][: len(models)]
    found = [list(_all_outputs(ctx, TensorSet(target), each)) for target in sets]
    shown = farther(*found) if len(found) > 1 else 0
    outputs = found[0]
    if len(found) > 1:
        pairs = zip(*found, strict=True)
        outputs = [
            one if one["pair"] == OF_THE_EXPORT else worse(one, other, names)
            for one, other in pairs
        ]
    ctx.findings.warnings += _said_aloud(outputs)
    inner = InnerTensors(ctx, models[names[shown]], TensorSet(sets[shown]))
    sampled = range(min(ctx.config["node_samples"], len(inner.feeds)))
    document: MetricsDocument = {
        "schema_version": 1,
        "outputs": outputs,
        "nodes": compare_nodes(ctx, inner, sampled, each),
        "node_samples": [inner.feeds.ids[index] for index in sampled],
    }
    if len(found) > 1:
        document["behaviours"] = {"names": names, "nodes": names[shown]}
    if why_no_tensors(ctx) is None and not is_measured_by_tools(ctx):
        flips = list(look_at_flips(ctx, inner, found[shown]))
        if flips:
            document["flips"] = flips
    return document


def _behaviours(ctx: StageContext) -> Mapping[str, Path]:
    """Name what the target may do, and the compiled model of each."""
    model = ctx.inputs["model"]
    return {"": model} if ctx.backend is None else ctx.backend.behaviours(model)


def _all_outputs(
    ctx: StageContext, target: TensorSet, each: Each
) -> Iterator[OutputComparison]:
    sets = sets_of(ctx.inputs["simplified"] / MODEL_FILE)
    for pair in _pairs(ctx, target):
        yield from _compare_outputs(*pair, each, sets)


def _pairs(
    ctx: StageContext, target: TensorSet
) -> Iterator[tuple[Pair, TensorSet, TensorSet]]:
    """Yield golden and target of each comparison; PyTorch's only where there is one."""
    exported = TensorSet(ctx.inputs["golden"] / "onnx")
    yield "onnx-target", exported, target
    if (ctx.inputs["golden"] / "torch").is_dir():
        torch = TensorSet(ctx.inputs["golden"] / "torch")
        yield "torch-onnx", torch, exported
        yield "torch-target", torch, target


def _compare_outputs(
    pair: Pair,
    golden: TensorSet,
    target: TensorSet,
    each: Each,
    sets: Mapping[str, int],
) -> Iterator[OutputComparison]:
    """Compare two models output by output, each over all samples, one tensor at a time."""
    if not golden.ids or golden.ids != target.ids:
        raise StageError(
            f"compare: {pair}: {len(golden)} samples against {len(target)}, or other ids",
            hint="there must be samples, and both sides must be of the same ones",
        )
    names = dict.fromkeys(
        spec.name
        for tensors in (golden, target)
        for index in range(len(tensors))
        for spec in tensors.specs(index)
    )
    for name in names:
        series = OutputSeries(pair, name, each, items=sets.get(name))
        for index, sample in enumerate(golden.ids):
            series.add(sample, _load(golden, index, name), _load(target, index, name))
        yield series.result()


def _load(tensors: TensorSet, index: int, name: str) -> np.ndarray | None:
    return tensors.load(index, name) if tensors.holds(index, name) else None


def _said_aloud(outputs: list[OutputComparison]) -> Iterator[str]:
    """Warn of outputs that pass because there was nothing to compare."""
    for found in outputs:
        if found["pair"] == "onnx-target" and found["smallest_size"] == 0:
            yield f"compare: output {found['name']!r} is empty in at least one sample"
