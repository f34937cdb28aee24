"""compare: how far the target is from its goldens. Numbers only, judged by gate."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends import load_backend
from ascendflow.documents.json_file import read_json, write_json
from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.errors import StageError
from ascendflow.graph.dump import every_tensor
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.found_boxes import sets_of
from ascendflow.graph.outline import outline
from ascendflow.graph.pairing import Paired, pair_by_name
from ascendflow.metrics.nodes import NodeTable, Origin
from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.worse import farther, worse
from ascendflow.stages.inner_tensors import InnerTensors
from ascendflow.stages.second_look import look_at_flips, tell_rules_from_target
from ascendflow.tensors import ALTERNATIVE, TensorSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from ascendflow.documents.conversion import Conversion
    from ascendflow.documents.metrics import (
        MetricsDocument,
        NodeComparison,
        OutputComparison,
        Pair,
    )
    from ascendflow.metrics.measure import Each
    from ascendflow.stages.stage import StageContext

MOST_THREADS = 4
"""Memory is what limits the arithmetic beyond."""


class Compare:
    """Measure outputs on all samples, and every tensor inside on a few."""

    name: ClassVar[str] = "compare"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {
            "samples",
            "golden",
            "outputs",
            "simplified",
            "rewritten",
            "model",
            "conversion.json",
        }
    )
    produces: ClassVar[frozenset[str]] = frozenset({"metrics.json"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what runs the models and what computes the numbers."""
        known = ("numpy", "ml_dtypes", "onnx", "onnxruntime")
        return tuple(
            dict.fromkeys((*known, *load_backend(config["backend"]).run_with(config)))
        )

    def run(self, ctx: StageContext) -> None:
        """Write the numbers, however bad they are.

        Raises:
            StageError: goldens and outputs are not of the same samples, or a tensor inside
                the simplified model cannot be had.
        """
        # Of any number of threads the numbers are the same, so it is in no key.
        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as threads:
            document = _compare(ctx, threads.map)
        write_json(ctx.outputs["metrics.json"], document)


def _compare(ctx: StageContext, each: Each) -> MetricsDocument:
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
        "nodes": _compare_nodes(ctx, inner, sampled, each),
        "node_samples": [inner.feeds.ids[index] for index in sampled],
    }
    if len(found) > 1:
        document["behaviours"] = {"names": names, "nodes": names[shown]}
    if _why_no_tensors(ctx) is None and not _by_its_tools(ctx):
        flips = list(look_at_flips(ctx, inner, found[shown]))
        if flips:
            document["flips"] = flips
    return document


def _why_no_tensors(ctx: StageContext) -> str | None:
    """Say why nothing inside the target is compared, or None."""
    if ctx.backend is None or not ctx.backend.capabilities.can_dump:
        return f"backend {ctx.config['backend']!r} cannot dump tensors"
    return None if ctx.config["node_samples"] else "node_samples is 0"


def _by_its_tools(ctx: StageContext) -> bool:
    """Whether the toolchain's own tools compare the tensors, and no tensors come here."""
    return bool(ctx.config.get("nodes_by", "dump") != "dump")


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


def _compare_nodes(
    ctx: StageContext, inner: InnerTensors, sampled: Sequence[int], each: Each
) -> list[NodeComparison]:
    """Compare what the simplified model and the target compute on the way, by name."""
    if (reason := _why_no_tensors(ctx)) is not None:
        text = f"compare: {reason}; only outputs are compared"
        ctx.findings.warnings.append(text)
        return []
    outlined = outline(ctx.inputs["simplified"] / MODEL_FILE)
    if outlined.with_subgraphs:
        ctx.findings.warnings.append(
            "compare: tensors in the bodies of If, Loop and Scan are not compared: "
            + ", ".join(outlined.with_subgraphs)
        )
    table = NodeTable(each)
    if _by_its_tools(ctx):
        _add_measured(table, inner, sampled, [each.tensor for each in outlined.produced])
    else:
        _add_pairs(ctx, table, inner, sampled)
    conversion: Conversion = read_json(ctx.inputs["conversion.json"])
    origins = [Origin(*produced) for produced in outlined.produced]
    rows = table.result(origins, conversion["target_ops"])
    if not _by_its_tools(ctx):
        tell_rules_from_target(ctx, inner, rows, sampled, each)
    return rows


def _add_pairs(
    ctx: StageContext, table: NodeTable, inner: InnerTensors, sampled: Sequence[int]
) -> None:
    simplified = ctx.inputs["simplified"] / MODEL_FILE
    for index in sampled:
        feeds = inner.feeds.sample(index)
        golden = every_tensor(simplified, feeds, threads=ctx.config["threads"])
        for found in pair_by_name(golden, inner.of(index)):
            if isinstance(found, Paired):
                table.add(*found)
            else:
                table.add_alone(found.tensor, in_golden=found.in_golden)


def _add_measured(
    table: NodeTable, inner: InnerTensors, sampled: Sequence[int], names: Sequence[str]
) -> None:
    seen = set()
    for index in sampled:
        for found in inner.measured(index):
            table.add_measured(*found)
            seen.add(found.tensor)
    for name in names:
        if name not in seen:
            table.add_alone(name, in_golden=True)
