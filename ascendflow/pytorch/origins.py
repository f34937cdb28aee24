"""Where each node of an exported graph comes from, read before the exporter's notes go.

dynamo writes module path and stack as metadata of each node. TorchScript puts the module
path into the node's name and the stack into its doc string.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

    from ascendflow.documents.nodes import NodeOrigin

_DYNAMO_SCOPES = "pkg.torch.onnx.name_scopes"
_DYNAMO_STACK = "pkg.torch.onnx.stack_trace"
_DYNAMO_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_TORCHSCRIPT_FRAME = re.compile(r"^(.+)\((\d+)\): ", re.MULTILINE)
_OWN_PACKAGE = Path(__file__).resolve().parent.parent


def origins_by_tensor(model: onnx.ModelProto, folder: Path) -> dict[str, NodeOrigin]:
    """Return the origin of each node of the main graph, by the name of its first output.

    Tensors keep their names through conversion and renaming; nodes need not.

    Args:
        model: as the exporter wrote it.
        folder: the model's pipeline folder, `<repository>/pipelines/<model>`.
    """
    return {
        node.output[0]: {"module": _module(node), "source": _source(node, folder)}
        for node in model.graph.node
        if node.output
    }


def _module(node: onnx.NodeProto) -> str:
    for entry in node.metadata_props:
        if entry.key == _DYNAMO_SCOPES:
            scopes = ast.literal_eval(entry.value)  # ['', 'layers', 'layers.0', 'conv2d']
            return str(scopes[-2]) if len(scopes) > 1 else ""
    if not node.name.startswith("/"):
        return ""
    path: list[str] = []
    for scope in node.name.split("/")[1:-1]:  # /layers/layers.0/Conv
        if path and scope.startswith(f"{path[-1]}."):
            path.pop()
        path.append(scope)
    return ".".join(path)


def _source(node: onnx.NodeProto, folder: Path) -> str:
    """Return the innermost line of the user's own code, as a relative path, or ""."""
    repository = folder.resolve().parents[1]
    for file, line in _frames(node):
        path = Path(file).resolve()
        if "site-packages" in path.parts or path.is_relative_to(_OWN_PACKAGE):
            continue
        for root in (folder.resolve(), repository):
            if path.is_relative_to(root):
                return f"{path.relative_to(root).as_posix()}:{line}"
    return ""


def _frames(node: onnx.NodeProto) -> Iterator[tuple[str, str]]:
    """Yield file and line of each frame, innermost first."""
    for entry in node.metadata_props:
        if entry.key == _DYNAMO_STACK:
            yield from stack_frames(entry.value)
    yield from stack_frames(node.doc_string)


def stack_frames(stack: str) -> Iterator[tuple[str, str]]:
    """Yield file and line of each frame that either exporter noted, innermost first."""
    yield from reversed(_DYNAMO_FRAME.findall(stack))
    yield from _TORCHSCRIPT_FRAME.findall(stack)
