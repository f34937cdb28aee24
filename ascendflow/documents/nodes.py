"""nodes.json: where in the user's PyTorch code a node of the exported graph comes from."""

from __future__ import annotations

from typing import Literal, TypedDict


class NodeOrigin(TypedDict):
    """One node's origin; empty strings where the exporter did not say."""

    module: str
    """Path of the torch module, e.g. "layers.0.conv"; "" is the model itself."""
    source: str
    """"model.py:42", relative to the model's folder, or to the repository."""


class NodesDocument(TypedDict):
    """nodes.json: by node name; empty where the source is an ONNX file."""

    schema_version: Literal[1]
    nodes: dict[str, NodeOrigin]
