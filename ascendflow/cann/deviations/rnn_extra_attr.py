"""GRU and LSTM: only hidden_size and direction are read.

activations (with their alpha and beta), clip, input_forget and layout are not, and no
message says so.

Source: canndev `gru_plugin.cc`, `lstm_plugin.cc`, 2022-06; ops-nn master
`gru_onnx_plugin.cpp`, `lstm_onnx_plugin.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph.activations import other_activations

if TYPE_CHECKING:
    import onnx_ir as ir


_UNREAD = (
    "activations",
    "activation_alpha",
    "activation_beta",
    "clip",
    "input_forget",
    "layout",
)
_STATES = slice(5, 7)
"""Inputs initial_h and initial_c, which have another shape under layout 1."""


class RnnExtraAttr(NodeDeviation):
    """Attributes that change what is computed and are not read."""

    name: ClassVar[str] = "rnn-extra-attr"
    op_types: ClassVar[frozenset[str]] = frozenset({"GRU", "LSTM"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = (
        "activations, clip, input_forget and layout change what a GRU or LSTM computes."
    )
    cann: ClassVar[str] = "None of them is read: the defaults are computed."
    cure: ClassVar[str | None] = None
    source: ClassVar[str] = (
        "canndev gru_plugin.cc, lstm_plugin.cc 2022-06; ops-nn master gru_onnx_plugin.cpp, "
        "lstm_onnx_plugin.cpp"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """List the attributes that are not read and would change something."""
        unread = list(_that_matter(node))
        if not unread:
            return Harmless("no attribute but those that CANN reads changes anything")
        has_states = any(v is not None for v in node.inputs[_STATES])
        if node.attributes.get_int("layout", 0) and has_states:
            return Found(
                "layout 1 is not read, and initial states have another shape under "
                "layout 0",
                "unknown",
            )
        return Found(f"CANN does not read {', '.join(unread)}", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Drop what is not read."""
        if isinstance(self.detect(node, conditions), Found):
            for name in _UNREAD:
                node.attributes.pop(name, None)


def _that_matter(node: ir.Node) -> list[str]:
    attributes, found = node.attributes, []
    if names := other_activations(node):
        found.append(f"activations {', '.join(names)}")
    if "clip" in attributes:
        found.append(f"clip {attributes['clip'].as_float():g}")
    found += [
        f"{name} 1" for name in ("input_forget", "layout") if attributes.get_int(name, 0)
    ]
    return found
