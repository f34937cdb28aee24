"""What rules and deviations edit with: new constants, new nodes in a node's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import onnx_ir as ir


def add_constant(node: ir.Node, role: str, array: object) -> ir.Value:
    """Add an initializer for `node`, named after its output and `role`.

    In a subgraph it is the subgraph's own.
    """
    import numpy as np
    import onnx_ir as ir

    assert isinstance(node.graph, ir.Graph)  # noqa: S101, a node that is edited is in a graph
    name, number = f"{_stem(node)}/{role}", 0
    while name in node.graph.initializers:
        number += 1
        name = f"{_stem(node)}/{role}.{number}"
    value = initializer(ir.Tensor(np.asarray(array), name=name))
    node.graph.register_initializer(value)
    return value


def initializer(tensor: ir.TensorProtocol, name: str | None = None) -> ir.Value:
    """Return a value of the tensor's type, shape and name; no graph has it yet.

    Args:
        tensor: what it holds.
        name: where it is not the tensor's.
    """
    import onnx_ir as ir

    return ir.Value(
        name=tensor.name if name is None else name,
        type=ir.TensorType(tensor.dtype),
        shape=ir.Shape(tensor.shape.numpy()),
        const_value=tensor,
    )


def attributes_of(node: ir.Node, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the attributes of `node` as `Chain` takes them, but those in `without`."""
    return {name: a.value for name, a in node.attributes.items() if name not in without}


def _stem(node: ir.Node) -> str:
    """Return the name of the first output that has one; optional outputs may be absent."""
    return next((value.name for value in node.outputs if value.name), str(node.name))


class Chain:
    """Builds the nodes that go where one node is, each named after that node's output.

    `chain = Chain(node); y = chain("Neg", [x]); chain.put_in_place()`
    """

    def __init__(self, node: ir.Node) -> None:
        self._node = node
        self._nodes: list[ir.Node] = []

    @property
    def opset(self) -> int:
        """The opset that the node is read in."""
        assert self._node.version is not None  # noqa: S101, set before any edit
        return self._node.version

    def __call__(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        attributes: Mapping[str, Any] | None = None,
        outputs: int = 1,
    ) -> ir.Value:
        """Append one node and return its first output; `.producer()` has the others."""
        import onnx_ir as ir

        role = f"{op_type}.{len(self._nodes)}"
        new = ir.node(
            op_type,
            list(inputs),
            dict(attributes or {}),
            num_outputs=outputs,
            name=f"{self._node.name or _stem(self._node)}/{role}",
        )
        for number, value in enumerate(new.outputs):
            value.name = f"{_stem(self._node)}/{role}.{number}"
        self._nodes.append(new)
        return new.outputs[0]

    def constant(self, role: str, array: object) -> ir.Value:
        """Add an initializer named after the node's output and `role`."""
        return add_constant(self._node, role, array)

    def put_in_place(self, outputs: Sequence[ir.Value] | None = None) -> None:
        """Replace the node; the last call's node takes over its name and outputs.

        Args:
            outputs: what takes the place of the node's outputs, one for each, where they
                are not the last node's.
        """
        import onnx_ir as ir

        node, last = self._node, self._nodes[-1]
        last.name = node.name
        for new in self._nodes:
            new.version = node.version
        assert node.graph is not None  # noqa: S101, a node that is edited is in a graph
        pairs = zip(node.outputs, last.outputs if outputs is None else outputs, strict=True)
        named = [(old, new_value) for old, new_value in pairs if old.name]
        for old, new_value in named:
            new_value.type, new_value.shape = old.type, old.shape
        olds, news = [old for old, _ in named], [new_value for _, new_value in named]
        ir.convenience.replace_nodes_and_values(
            node.graph, node, [node], self._nodes, olds, news
        )
