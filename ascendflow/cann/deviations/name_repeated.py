"""Names that two nodes of one of CANN's graphs would share.

The parser makes a node of every graph input, named after it, and refuses a graph in which
two nodes have one name (E13009). So the following are refused:

1. two nodes of one graph with the same name;
2. a node named like an input of its graph;
3. in a branch of an If: a node named like a tensor that a branch takes from outside, for
   which the parser gives every branch an input of that name.

Which characters a name consists of is not looked at. Nodes without a name get one.
`--input_shape` is another matter: it is split at ";" and at the last ":", so an input's
name may hold neither; a manifest refuses such names.

The export stage names nodes so that none of this happens.

Sources: GE `onnx_parser.cc` (ParseInput, Prechecker), `pre_checker.cc` (CheckName),
`if_subgraph_adapter.cc` (AddInputNodeForGraph), `option_utils.cc`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, Confidences, ModelDeviation
from ascendflow.graph.nodes import bodies_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir


class NameRepeated(ModelDeviation):
    """Cases 1 to 3 of the module's text."""

    name: ClassVar[str] = "name-repeated"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected",)
    onnx: ClassVar[str] = "Names of nodes are for people; names of tensors are others."
    cann: ClassVar[str] = (
        "Inputs become nodes of the same name, and no two nodes of a graph may share one "
        "(E13009)."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "give these nodes names that no other node, input or outer tensor has"
    )
    source: ClassVar[str] = (
        "GE onnx_parser.cc Prechecker, pre_checker.cc CheckName, if_subgraph_adapter.cc"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "high", "high")
    """Read in the parser itself."""

    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Compare the names of each graph's nodes, inputs and captured tensors."""
        del conditions  # the same everywhere
        yield from _in_graph(model.graph, frozenset())
        for node in model.graph.all_nodes():
            bodies = list(bodies_of(node))
            captured = frozenset[str]().union(*map(captured_names, bodies))
            for body in bodies:
                yield from _in_graph(body, captured)


def captured_names(body: ir.Graph) -> frozenset[str]:
    """Return the names of the tensors that the nodes of `body` take from outside it."""
    own = {value.name for value in (*body.inputs, *body.initializers.values())}
    own |= {value.name for node in body for value in node.outputs}
    read = {value.name for node in body for value in node.inputs if value is not None}
    return frozenset(name for name in read - own if name)


def _in_graph(graph: ir.Graph, captured: frozenset[str]) -> Iterator[tuple[ir.Node, Found]]:
    inputs = {value.name for value in graph.inputs if not value.is_initializer()}
    counts = Counter(node.name for node in graph if node.name)
    for node in graph:
        if not node.name:
            continue
        if (count := counts[node.name]) > 1:
            reason = f"{count} nodes of its graph have this name"
        elif node.name in inputs:
            reason = "an input of its graph has this name too"
        elif node.name in captured:
            reason = "a branch takes a tensor of this name from outside"
        else:
            continue
        yield node, Found(reason, "rejected")
