"""compare's nodes: what is computed inside two models, by name, over a few samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.documents.json_file import read_json
from ascendflow.graph.dump import every_tensor
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.outline import outline
from ascendflow.graph.pairing import Paired, pair_by_name
from ascendflow.metrics.nodes import NodeTable, Origin
from ascendflow.stages.second_look import tell_rules_from_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ascendflow.documents.conversion import Conversion
    from ascendflow.documents.metrics import NodeComparison
    from ascendflow.metrics.measure import Each
    from ascendflow.stages.inner_tensors import InnerTensors
    from ascendflow.stages.stage import StageContext


def why_no_tensors(ctx: StageContext) -> str | None:
    """Say why nothing inside the target is compared, or None."""
    if ctx.backend is None or not ctx.backend.capabilities.can_dump:
        return f"backend {ctx.config['backend']!r} cannot dump tensors"
    return None if ctx.config["node_samples"] else "node_samples is 0"


def is_measured_by_tools(ctx: StageContext) -> bool:
    """Whether the toolchain's own tools compare the tensors, and no tensors come here."""
    return bool(ctx.config.get("nodes_by", "dump") != "dump")


def compare_nodes(
    ctx: StageContext, inner: InnerTensors, sampled: Sequence[int], each: Each
) -> list[NodeComparison]:
    """Compare what the simplified model and the target compute on the way, by name.

    Args:
        ctx: of the stage.
        inner: the tensors inside the target.
        sampled: which of its samples.
        each: see `measure`.

    Raises:
        StageError: a tensor inside the simplified model cannot be had.
    """
    if (reason := why_no_tensors(ctx)) is not None:
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
    if is_measured_by_tools(ctx):
        _add_measured(table, inner, sampled, [each.tensor for each in outlined.produced])
    else:
        _add_pairs(ctx, table, inner, sampled)
    conversion: Conversion = read_json(ctx.inputs["conversion.json"])
    origins = [Origin(*produced) for produced in outlined.produced]
    rows = table.result(origins, conversion["target_ops"])
    if not is_measured_by_tools(ctx):
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
