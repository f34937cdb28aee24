"""Copies of a loop's body, one for each round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from ascendflow.graph.edit import add_constant
from ascendflow.graph.opset_spelling import AXES_ARE_AN_INPUT_SINCE

if TYPE_CHECKING:
    from collections.abc import Sequence


class Unrolled:
    """Gathers the nodes that take a Loop's place, in order.

    Attributes:
        nodes: what was made so far, in no graph yet.
    """

    def __init__(self, node: ir.Node, body: ir.Graph) -> None:
        self.nodes: list[ir.Node] = []
        self._node = node
        self._body = body
        self._constants = {
            value: add_constant(node, str(value.name), value.const_value.numpy())
            for value in body.initializers.values()
            if value.const_value is not None
        }

    def round(self, number: int, given: Sequence[ir.Value]) -> list[ir.Value]:
        """Copy the body once and return its outputs.

        Args:
            number: of the round, for the names.
            given: what the body's inputs stand for.
        """
        known: dict[ir.Value, ir.Value] = dict(zip(self._body.inputs, given, strict=True))
        known.update(self._constants)
        for node in self._body:
            inputs = [None if v is None else known.get(v, v) for v in node.inputs]
            copy = ir.Node(
                node.domain,
                node.op_type,
                inputs,
                list(node.attributes.values()),
                num_outputs=len(node.outputs),
                name=f"{self._node.name}/{number}/{node.name}",
                version=self._node.version,
            )
            for new, old in zip(copy.outputs, node.outputs, strict=True):
                new.name = old.name and f"{self._node.outputs[0].name}/{number}/{old.name}"
                new.type, new.shape = old.type, old.shape
                known[old] = new
            self.nodes.append(copy)
        return [known.get(value, value) for value in self._body.outputs]

    def call(
        self,
        op_type: str,
        inputs: Sequence[ir.Value],
        *attributes: ir.Attr,
    ) -> ir.Value:
        """Append one node and return its output."""
        role = f"{op_type}.{len(self.nodes)}"
        name, version = f"{self._node.name}/{role}", self._node.version
        node = ir.Node("", op_type, inputs, attributes, name=name, version=version)
        node.outputs[0].name = f"{self._node.outputs[0].name}/{role}"
        self.nodes.append(node)
        return node.outputs[0]

    def stacked(self, rows: Sequence[ir.Value]) -> ir.Value:
        """Append the nodes that stack `rows` along a new first axis."""
        if (self._node.version or 0) < AXES_ARE_AN_INPUT_SINCE:
            axes = ir.AttrInt64s("axes", [0])
            wide = [self.call("Unsqueeze", [row], axes) for row in rows]
        else:
            first = add_constant(self._node, "first_axis", np.array([0], np.int64))
            wide = [self.call("Unsqueeze", [row, first]) for row in rows]
        return self.call("Concat", wide, ir.AttrInt64("axis", 0))
