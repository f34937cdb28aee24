"""The activations of a GRU or an LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_ir as ir

_DEFAULTS = {"GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}


def other_activations(node: ir.Node) -> list[str]:
    """Return the activations of `node` if one is not the default, else [].

    Case does not matter, as it does not in onnxruntime.
    """
    if "activations" not in node.attributes:
        return []
    names = list(node.attributes["activations"].as_strings())
    usual = [name.lower() for name in _DEFAULTS[node.op_type]]
    are_usual = [name.lower() for name in names] == usual * (len(names) // len(usual))
    return [] if are_usual else names
