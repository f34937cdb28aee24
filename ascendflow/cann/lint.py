"""Every deviation that applies to a model on one target, in graph order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendflow.cann.detection import Found
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import (
    Conditions,
    Deviation,
    ModelDeviation,
    NodeDeviation,
)
from ascendflow.cann.types import choose, runs_in_half
from ascendflow.graph.nodes import label, nodes_of, opset
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    def is_unknown(self) -> bool:
        """Whether no source says what CANN does there."""
        return self.found.consequence == "unknown"


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
    for node in nodes:
        node.version = opset(node, model)
    choices = choose(model, target) if choices is None else choices
    whole = target.conditions(half=False, choices=choices, all_weights=all_weights)
    for deviation in DEVIATIONS:
        if isinstance(deviation, ModelDeviation):
            for blamed, found in deviation.detect(model, whole):
                yield Finding(deviation, blamed, found, whole)
    for node in nodes:
        yield from _of_node(node, whole)


def _of_node(node: ir.Node, whole: Conditions) -> Iterator[Finding]:
    if node.domain not in DEFAULT_DOMAINS:
        return
    conditions = replace(whole, half=runs_in_half(node, whole))
    for deviation in DEVIATIONS:
        if isinstance(deviation, NodeDeviation) and node.op_type in deviation.op_types:
            found = deviation.detect(node, conditions)
            if isinstance(found, Found):
                yield Finding(deviation, node, found, conditions)
