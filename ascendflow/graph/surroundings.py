"""What is around the nodes that a rule edits, and whether the rule left it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.graph.nodes import bodies_of, label, nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

Picture = tuple[Any, ...]

LOOKS = 8
"""Of the whole model, however many nodes are edited, so that time grows with it alone."""


class Surroundings:
    """All nodes of a model, its outputs and constants, as they were when last looked at.

    Up to `LOOKS` edits, each is followed by a look at everything. Of more, some follow each
    other without; then a fault may be of any edit since the last look. A node that is
    edited itself is looked at before its turn, so that no edit before it hides in its own.
    """

    def __init__(self, model: ir.Model, edits: int = 1) -> None:
        """Look at `model`, in which `edits` nodes are about to be edited."""
        self._model = model
        self._left = edits
        self._together = -(-edits // LOOKS) or 1
        self._take()

    def _take(self) -> None:
        self._nodes = {node: _picture(node) for node in nodes_of(self._model)}
        self._outputs = [value.name for value in self._model.graph.outputs]
        self._constants = _constants(self._model)
        self._inside: set[ir.Node] = set()
        self._given: dict[ir.Value, str | None] = {}
        self._unseen = 0

    def why_touched(self, node: ir.Node) -> str | None:
        """Say that `node`, which is about to be edited, was edited before; or None."""
        if not self._unseen or node in self._inside:
            return None
        return self._why_another(node, None if node.graph is None else _picture(node))

    def why_changed(
        self, node: ir.Node, given: Mapping[ir.Value, str | None], *, now: bool = False
    ) -> str | None:
        """Say what other than the nodes that were edited, and those in them, changed.

        New nodes are no matter, nor that others read a new tensor in the place, and by the
        name, of one that an edited node gave. None too where it is not time to look.

        Args:
            node: what a rule was to edit.
            given: the names of what it gave before that.
            now: look in any case.
        """
        self._given.update(given)
        self._inside.update(each for body in bodies_of(node) for each in body.all_nodes())
        self._unseen += 1
        self._left -= 1
        if node.graph is None:
            self._inside.add(node)
        else:
            self._nodes[node] = _picture(node)
        if not now and self._left and self._unseen < self._together:
            return None
        fault = self._why(node)
        self._take()
        return fault

    def _why(self, last: ir.Node) -> str | None:
        there = {node: _picture(node) for node in nodes_of(self._model)}
        for other in self._nodes:
            fault = self._why_another(other, there.get(other))
            if fault is not None and other not in self._inside:
                return fault
        return self._why_outputs() or self._why_constants(last)

    def _why_another(self, other: ir.Node, now: Picture | None) -> str | None:
        before = self._nodes.get(other)
        if before is None or now == before or _rewired(before, now, self._given):
            return None
        did = "took out" if now is None else "edited"
        return f"{did} another node too, {label(other)!r} ({other.op_type}){self._whose()}"

    def _why_outputs(self) -> str | None:
        outputs = [value.name for value in self._model.graph.outputs]
        if outputs == self._outputs:
            return None
        whose = self._whose()
        return f"changed the model's outputs from {self._outputs} to {outputs}{whose}"

    def _why_constants(self, last: ir.Node) -> str | None:
        now = _constants(self._model)
        for value, tensor in self._constants.items():
            if now.get(value) is tensor:
                continue
            readers = (use.node for use in value.uses())
            others = [r for r in readers if r is not last and r not in self._inside]
            if others:
                return (
                    f"changed the constant {value.name!r}, which {label(others[0])!r} "
                    f"({others[0].op_type}) reads too{self._whose()}"
                )
        return None

    def _whose(self) -> str:
        """Say that the fault may be of an edit before the last one; "" where it is not."""
        earlier = self._unseen - 1
        return f"; here, or at one of the {earlier} nodes before" if earlier > 0 else ""


def _picture(node: ir.Node) -> Picture:
    return (
        node.inputs,
        node.name,
        node.op_type,
        node.domain,
        [value.name for value in node.outputs],
        list(node.attributes.values()),
        id(node.graph),
    )


def _rewired(
    before: Picture, now: Picture | None, given: Mapping[ir.Value, str | None]
) -> bool:
    """Return whether only the places changed where the tensors of `given` were read."""
    if now is None or before[1:] != now[1:] or len(before[0]) != len(now[0]):
        return False
    return all(
        old is new or (old in given and new is not None and new.name == given[old])
        for old, new in zip(before[0], now[0], strict=True)
    )


def _constants(model: ir.Model) -> Mapping[ir.Value, object]:
    return {value: value.const_value for value in _initializers(model)}


def _initializers(model: ir.Model) -> Iterator[ir.Value]:
    for graph in (model.graph, *model.graph.subgraphs()):
        yield from graph.initializers.values()
