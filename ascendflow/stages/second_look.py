"""A second look at the few tensors that differ: is it the target's doing, and why?"""

from __future__ import annotations

import filecmp
from typing import TYPE_CHECKING

from ascendflow.graph.choices import choosers_before
from ascendflow.graph.dump import every_tensor
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.pairing import Paired, pair_by_name
from ascendflow.metrics.flips import flipped_places
from ascendflow.metrics.nodes import NodeTable, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from ascendflow.documents.metrics import Flips, NodeComparison, OutputComparison
    from ascendflow.graph.choices import Chooser
    from ascendflow.metrics.measure import Each
    from ascendflow.stages.inner_tensors import InnerTensors
    from ascendflow.stages.stage import StageContext

    Dump = Iterable[tuple[str, np.ndarray]]


def tell_rules_from_target(
    ctx: StageContext,
    inner: InnerTensors,
    rows: Sequence[NodeComparison],
    sampled: Iterable[int],
    each: Each,
) -> None:
    """Mark the tensors that diverge since a rule moved them: the target follows the rule.

    Nodes are compared with the model before the rules. What diverges from that is compared
    with the rewritten model too, whose values count where that is the target's doing.
    """
    beyond = {row["tensor"]: row for row in rows if row["diverges"]}
    before, rewritten = (
        ctx.inputs[role] / MODEL_FILE for role in ("simplified", "rewritten")
    )
    if not beyond or filecmp.cmp(before, rewritten, shallow=False):
        return
    table = NodeTable(each)
    for index in sampled:
        feeds = inner.feeds.sample(index)
        golden = every_tensor(rewritten, feeds, threads=ctx.config["threads"])
        for found in _pairs(golden, inner.of(index), beyond):
            table.add(*found)
    origins = [
        Origin(row["tensor"], row["node"], row["op_type"], tuple(row["inputs"]))
        for row in beyond.values()
    ]
    for again in table.result(origins, {}):
        row = beyond[again["tensor"]]
        if not again["diverges"]:
            row["moved_by_rules"], row["diverges"] = True, False
            continue
        row["statistics"] = again["statistics"]
        row.pop("underflow", None)
        if "underflow" in again:
            row["underflow"] = again["underflow"]


def look_at_flips(
    ctx: StageContext, inner: InnerTensors, outputs: Iterable[OutputComparison]
) -> Iterator[Flips]:
    """Look at the choices behind each output of integers that differs, on its worst sample.

    Args:
        ctx: of compare.
        inner: the tensors inside the compiled model.
        outputs: what was measured.
    """
    worst = {found["name"]: sample for found in outputs if (sample := _worst(found))}
    simplified = ctx.inputs["simplified"] / MODEL_FILE
    choosers = choosers_before(simplified, list(worst))
    for sample in dict.fromkeys(worst.values()):
        here = {name: choosers[name] for name in worst if worst[name] == sample}
        wanted = {t for each in here.values() for c in each for t in (c.values, c.indices)}
        if not wanted:
            continue
        index = inner.feeds.ids.index(sample)
        fed = inner.feeds.sample(index)
        golden = every_tensor(simplified, fed, threads=ctx.config["threads"])
        pairs = {f.tensor: f for f in _pairs(golden, inner.of(index), wanted)}
        for output, found in here.items():
            yield from (_flips(output, sample, chooser, pairs) for chooser in found)


def _worst(found: OutputComparison) -> str | None:
    """Name the sample in which most integers differ from the export's, or None."""
    differing = found["metrics"].get("mismatch_rate")
    if found["pair"] != "onnx-target" or differing is None or differing["worst"] == 0:
        return None
    return differing["worst_sample"]


def _pairs(golden: Dump, target: Dump, wanted: Iterable[str]) -> Iterator[Paired]:
    """Yield the wanted tensors that both sides have."""
    names = frozenset(wanted)
    both = (((n, t) for n, t in side if n in names) for side in (golden, target))
    yield from (found for found in pair_by_name(*both) if isinstance(found, Paired))


def _flips(
    output: str, sample: str, chooser: Chooser, pairs: Mapping[str, Paired]
) -> Flips:
    values, indices = pairs.get(chooser.values), pairs.get(chooser.indices)
    places, problem = None, None
    if values is None or indices is None:
        missing = chooser.indices if indices is None else chooser.values
        problem = f"the target gives no {missing!r} to compare"
    else:
        try:
            places = flipped_places(
                *(
                    _aligned(chooser, values, indices, side)
                    for side in ("golden", "target")
                ),
                axis=chooser.axis,
            )
        except ValueError as error:
            problem = str(error)
    return {
        "output": output,
        "sample": sample,
        "node": chooser.node,
        "op_type": chooser.op_type,
        "values": chooser.values,
        "places": places,
        "problem": problem,
    }


def _aligned(
    chooser: Chooser, values: Paired, indices: Paired, side: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and indices of one side, of as many dimensions."""
    import numpy as np

    chosen: np.ndarray = getattr(indices, side)
    if not chooser.keeps_axis:
        chosen = np.expand_dims(chosen, chooser.axis)
    return getattr(values, side), chosen
