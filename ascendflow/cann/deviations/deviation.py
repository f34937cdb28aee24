"""What a deviation is: where CANN computes something else than ONNX, and what instead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    from ascendflow.cann.gap import Gap
    from ascendflow.cann.profile import Profile
    from ascendflow.cann.soc import Soc
    from ascendflow.documents.conversion import Confidence


@dataclass(frozen=True)
class Conditions:
    """What a deviation may depend on beside the node.

    Attributes:
        profile: the CANN version.
        soc: the SoC's family.
        half: the kernel of the node at hand gets its data as fp16.
    """

    profile: Profile
    soc: Soc
    half: bool


class Deviation(ABC):
    """One kind of difference between ONNX and CANN, for certain operator types.

    Attributes:
        name: what conversion documents and reports call it.
        op_types: ONNX operator types of the default domain.
        cure: the rule that avoids it where one can, or None.
        source: where it was read.
    """

    name: ClassVar[str]
    op_types: ClassVar[frozenset[str]]
    cure: ClassVar[str | None]
    source: ClassVar[str]

    @abstractmethod
    def confidence(self, conditions: Conditions) -> Confidence:
        """Return how sure it is that CANN does so under `conditions`."""

    def gap(self, node: ir.Node, conditions: Conditions) -> Gap | None:  # noqa: ARG002, hook
        """Return why `node` cannot be lowered, or None."""
        return None

    @abstractmethod
    def difference(self, node: ir.Node, conditions: Conditions) -> str | None:
        """Return in words how CANN's values differ from ONNX's here, or None."""

    @abstractmethod
    def lower(self, node: ir.Node, conditions: Conditions) -> None:
        """Edit the graph so that it computes what CANN computes for `node`.

        Called on every node of the types, once `gap` gave None. The node's outputs keep
        their names.
        """


def put_in_place(node: ir.Node, replacement: Sequence[ir.Node]) -> None:
    """Put `replacement` where `node` is; the last node takes over its name and outputs."""
    import onnx_ir as ir

    last = replacement[-1]
    last.name = node.name
    assert node.graph is not None  # noqa: S101, a node that is lowered is in a graph
    ir.convenience.replace_nodes_and_values(
        node.graph, node, [node], list(replacement), node.outputs, last.outputs
    )


def add_constant(node: ir.Node, role: str, array: object) -> ir.Value:
    """Add an initializer for `node`, named after its output and `role`."""
    import numpy as np
    import onnx_ir as ir

    assert isinstance(node.graph, ir.Graph)  # noqa: S101, a node that is lowered is in a graph
    tensor = ir.Tensor(np.asarray(array), name=f"{node.outputs[0].name}/{role}")
    value = ir.Value(
        name=tensor.name,
        type=ir.TensorType(tensor.dtype),
        shape=ir.Shape(tensor.shape),
        const_value=tensor,
    )
    node.graph.register_initializer(value)
    return value
