"""What is around a node that a rule edits, and whether the rule left it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.graph.nodes import bodies_of, label, nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

Picture = tuple[Any, ...]


class Surroundings:
    """All nodes of a model, its outputs and constants, as they were when last looked at.

    Every look takes all of them in, so each is kept for the next.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._take()

    def _take(self) -> None:
        self._nodes = {node: _picture(node) for node in nodes_of(self._model)}
        self._outputs = [value.name for value in self._model.graph.outputs]
        self._constants = _constants(self._model)

    def why_changed(
        self, node: ir.Node, given: Mapping[ir.Value, str | None]
    ) -> str | None:
        """Say what other than `node` and the nodes in it changed since, or None.

        New nodes are no matter, nor that others read a new tensor in the place, and by the
        name, of one that `node` gave.

        Args:
            node: what a rule was to edit.
            given: the names of what it gave before that.
        """
        nodes, outputs, constants = self._nodes, self._outputs, self._constants
        self._take()
        inside = {each for body in bodies_of(node) for each in body.all_nodes()} | {node}
        for other, before in nodes.items():
            now = self._nodes.get(other)
            if now != before and other not in inside and not _rewired(before, now, given):
                did = "took out" if now is None else "edited"
                return f"{did} another node too, {label(other)!r} ({other.op_type})"
        if self._outputs != outputs:
            return f"changed the model's outputs from {outputs} to {self._outputs}"
        for value, tensor in constants.items():
            readers = [use.node for use in value.uses() if use.node not in inside]
            if readers and self._constants.get(value) is not tensor:
                return (
                    f"changed the constant {value.name!r}, which {label(readers[0])!r} "
                    f"({readers[0].op_type}) reads too"
                )
        return None


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
