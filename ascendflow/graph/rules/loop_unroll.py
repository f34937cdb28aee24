"""Loop with a constant number of rounds -> its body, that many times.

No CANN has a parser for Loop. The body is written out once per round: the number of the
round becomes a constant, what is carried goes from round to round, and what is collected
is concatenated. Only loops that cannot end early are unrolled: the condition is absent or
true at the start, and the body hands it on or gives a constant true.

Source: ONNX operator docs, Loop-16; GE `subgraph_adapter`, which knows If only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import add_constant
from ascendflow.graph.nodes import constant, input_at
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.unrolling import Unrolled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect

MOST_ROUNDS = 64
"""More would make a graph that no compiler likes."""


class LoopUnroll(Rule):
    """Write a loop out."""

    name: ClassVar[str] = "loop-unroll"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Loop"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Put the rounds in the node's place."""
        if "body" not in node.attributes:
            yield Skipped(node, "it has no body")
            return
        body = node.attributes["body"].as_graph()
        rounds = constant(node.inputs[0])
        reason = _why_not(node, body, rounds)
        if reason is not None or rounds is None:
            yield Skipped(node, str(reason))
            return
        count = int(rounds.item())
        _unroll(node, body, count)
        yield Applied(node, before={"rounds": count}, after={"nodes": count * len(body)})


def _why_not(node: ir.Node, body: ir.Graph, rounds: np.ndarray | None) -> str | None:
    """Return why the loop is not unrolled, or None."""
    if rounds is None:
        return "its number of rounds is computed"
    start = input_at(node, 1)
    obstacles = {
        f"it runs {rounds.item()} rounds, not 1 to {MOST_ROUNDS}": not (
            1 <= rounds.item() <= MOST_ROUNDS
        ),
        "its condition is not known to be true at the start": start is not None
        and not _is_true(start),
        "its condition is computed in the body, so it may end early": not _goes_on(body),
        "its body holds graphs": any(True for _ in body.subgraphs()),
        "its body takes or gives another number of tensors": (
            len(body.inputs) != len(node.inputs)
            or len(body.outputs) != 1 + len(node.outputs)
        ),
        "some of its outputs are left out": any(not v.name for v in node.outputs),
    }
    return next((reason for reason, applies in obstacles.items() if applies), None)


def _is_true(value: ir.Value) -> bool:
    known = constant(value)
    return known is not None and bool(known.all())


def _goes_on(body: ir.Graph) -> bool:
    """Return whether the body hands a true condition on."""
    condition, handed = body.inputs[1], body.outputs[0]
    while (maker := handed.producer()) is not None and maker.op_type == "Identity":
        first = maker.inputs[0]
        assert first is not None  # noqa: S101, Identity has an input
        handed = first
    return handed is condition or _is_true(handed)


def _unroll(node: ir.Node, body: ir.Graph, count: int) -> None:
    carried = [value for value in node.inputs[2:] if value is not None]
    collected: list[list[ir.Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    unrolled = Unrolled(node, body)
    truth = add_constant(node, "true", np.array(True))
    for number in range(count):
        this = add_constant(node, f"round.{number}", np.array(number, np.int64))
        given = unrolled.round(number, [this, truth, *carried])
        carried = given[1 : 1 + len(carried)]
        for rows, value in zip(collected, given[1 + len(carried) :], strict=True):
            rows.append(value)
    outputs = [unrolled.call("Identity", [value]) for value in carried]
    outputs += [unrolled.stacked(rows) for rows in collected]
    for value, old in zip(outputs, node.outputs, strict=True):
        value.type, value.shape = old.type, old.shape
    assert node.graph is not None  # noqa: S101, a node that is edited is in a graph
    ir.convenience.replace_nodes_and_values(
        node.graph, node, [node], unrolled.nodes, node.outputs, outputs
    )
