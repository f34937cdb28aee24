"""Every deviation that applies to a model on one target, in graph order."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ascendflow.cann.detection import Found
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.by_operator import looked_up_deviation, node_deviations
from ascendflow.cann.deviations.deviation import (
    Conditions,
    Deviation,
    LookedUpDeviation,
    ModelDeviation,
    NodeDeviation,
)
from ascendflow.cann.types import choose, runs_in_half
from ascendflow.documents.lint import SEVERITIES
from ascendflow.graph.gears import in_each_gear
from ascendflow.graph.nodes import label, nodes_of, opset
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import onnx_ir as ir

    from ascendflow.cann.target import Target
    from ascendflow.cann.types import Choice


@dataclass(frozen=True)
class Finding:
    """One deviation that applies.

    Attributes:
        deviation: which.
        node: the node to blame, or None where it is the whole model.
        found: why, and what comes of it.
        conditions: under which it was found.
    """

    deviation: Deviation
    node: ir.Node | None
    found: Found
    conditions: Conditions

    @property
    def subject(self) -> str:
        """The node's name, or "" for the whole model."""
        return "" if self.node is None else label(self.node)

    @property
    def advice(self) -> str | None:
        """What to do where no rule helps: about this finding, or about all of its kind."""
        return self.found.advice or self.deviation.advice

    @property
    def stops_convert(self) -> bool:
        """Whether `convert` refuses the model for it: nothing can be computed."""
        match self.found.consequence:
            case "rejected":
                return True
            case "unknown":
                return not self.found.behaviours
        return False


def lint(
    model: ir.Model,
    target: Target,
    choices: Mapping[ir.Node, Choice] | None = None,
    *,
    all_weights: bool = False,
) -> Iterator[Finding]:
    """Find every deviation, first those of the whole model, then node by node.

    Args:
        model: loaded with its shapes (`graph.load.load_model`); nodes get their opsets.
        target: what it is built for.
        choices: the nodes' types, where they were chosen already (`types.choose`).
        all_weights: read every constant. Otherwise large ones in external data are not
            looked at, so that linting gigabytes takes no time: `graph.constants.unread`
            lists them, and whoever leaves them out should say so.

    Raises:
        StageError: a precision setting names what is not there.
    """
    nodes = list(nodes_of(model))
    versions = {node.domain: opset(node, model) for node in nodes}
    for node in nodes:
        node.version = versions[node.domain]
    choices = choose(model, target) if choices is None else choices
    whole = target.conditions(half=False, choices=choices, all_weights=all_weights)
    looked_up = _looked_up(nodes, model, whole)
    for deviation in DEVIATIONS:
        if isinstance(deviation, LookedUpDeviation):
            yield from looked_up.get(deviation, ())
        elif isinstance(deviation, ModelDeviation):
            for blamed, found in deviation.detect(model, whole):
                yield Finding(deviation, blamed, found, whole)
    in_half = replace(whole, half=True)
    for node in nodes:
        if node.domain in DEFAULT_DOMAINS and (asked := node_deviations(node.op_type)):
            conditions = in_half if runs_in_half(node, whole) else whole
            yield from _of_node(node, asked, conditions)


def lint_gears(
    model: ir.Model, target: Target, *, all_weights: bool = False
) -> list[Finding]:
    """Find each deviation once, of whatever gear, in the order of `lint`.

    Where gears differ, the gravest finding is told, with its gear and in how many it is.
    """
    gears, told = 0, defaultdict[tuple[Any, ...], list[tuple[str, Finding]]](list)
    for gear in in_each_gear(model):
        gears += 1
        again: Counter[tuple[Deviation, ir.Node | None]] = Counter()
        for finding in lint(model, target, all_weights=all_weights):
            subject = finding.deviation, finding.node
            told[*subject, again[subject]].append((gear, finding))
            again[subject] += 1
    return [_of_gears(each, gears) for each in told.values()]


def _of_gears(told: Sequence[tuple[str, Finding]], gears: int) -> Finding:
    gear, gravest = min(told, key=lambda each: SEVERITIES.index(each[1].found.consequence))
    said = gravest.found
    if len(told) == gears and all(each.found == said for _, each in told):
        return gravest
    where = f"with {gear}; found in {len(told)} of {gears} gears"
    return replace(gravest, found=replace(said, reason=f"{said.reason} ({where})"))


def _looked_up(
    nodes: Iterable[ir.Node], model: ir.Model, whole: Conditions
) -> dict[LookedUpDeviation, list[Finding]]:
    """Look every node up once, for the one deviation that answers for its operator."""
    told = defaultdict(list)
    for node in nodes:
        deviation = looked_up_deviation(node.op_type)
        if (found := deviation.look_up(node, model, whole)) is not None:
            told[deviation].append(Finding(deviation, node, found, whole))
    return told


def _of_node(
    node: ir.Node, asked: Iterable[NodeDeviation], conditions: Conditions
) -> Iterator[Finding]:
    for deviation in asked:
        found = deviation.detect(node, conditions)
        if isinstance(found, Found):
            yield Finding(deviation, node, found, conditions)
