"""The one form in which an ONNX model is written: same model, same bytes, anywhere.

Exporters leave absolute paths, stack traces, their own version and hash-ordered notes in
a file. None of it changes what the model computes, all of it changes the bytes, and so
every key after it. Here it goes. Tensors keep their names, since comparisons join on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.graph.external_data import (
    byte_size,
    embed,
    external_tensors,
    gather,
    locate,
)
from ascendflow.graph.files import DATA_FILE, MODEL_FILE
from ascendflow.graph.io_spec import input_values
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.traverse import every_graph, every_node, every_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx

EMBED_LIMIT = 2_000_000_000
"""Bytes from which on weights lie beside the graph; protobuf ends at 2 GiB."""
_FIRST_IR_WITHOUT_INITIALIZER_INPUTS = 4


def canonicalise(model: onnx.ModelProto) -> None:
    """Bring `model` into canonical form, in place.

    * Nodes without a name of their own, or named like an input, are named op type +
      position (`Abs_0`).
    * Doc strings, metadata, producer, model version and domain, training graphs and inner
      value infos go; so do imports of domains that no node uses.
    * "ai.onnx", another spelling of the default domain, becomes "".
    * Initializers are not inputs (IR version 3 had to list them there).
    """
    _name_nodes(model)
    for graph in every_graph(model):
        _clear(graph, "doc_string", "metadata_props", "value_info")
        for value in (*graph.input, *graph.output):
            _clear(value, "doc_string", "metadata_props")
    for tensor in every_tensor(model):
        _clear(tensor, "doc_string", "metadata_props")
    for node in every_node(model):
        _clear(node, "doc_string", "metadata_props")
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
        node.domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
    _clear(
        model,
        *("doc_string", "metadata_props", "producer_name", "producer_version"),
        *("domain", "model_version", "training_info"),
    )
    _prune_imports(model)
    _prune_inputs(model)


def save(
    model: onnx.ModelProto, folder: Path, source: Path, *, embed_limit: int | None = None
) -> Path:
    """Write `model` as `folder`/model.onnx, with its weights inside or beside it.

    Args:
        model: in canonical form; changed in place where weights move.
        folder: created; must not exist.
        source: the folder its external data lies in now; never `folder`.
        embed_limit: bytes from which on weights go to model.onnx.data; EMBED_LIMIT if None.

    Returns:
        The path of model.onnx.

    Raises:
        StageError: external data is gone, or the graph alone is too large for protobuf.
    """
    folder.mkdir(parents=True)
    # protobuf would build the whole message to tell its size.
    if sum(map(byte_size, every_tensor(model))) < (embed_limit or EMBED_LIMIT):
        for tensor in external_tensors(model):
            embed(tensor, locate(tensor, source))
    else:
        gather(model, source, folder / DATA_FILE)
    path = folder / MODEL_FILE
    path.write_bytes(_serialised(model))
    return path


def _serialised(model: onnx.ModelProto) -> bytes:
    from google.protobuf.message import EncodeError

    try:
        return bytes(model.SerializeToString(deterministic=True))
    except (EncodeError, ValueError) as error:
        raise StageError(
            "the graph, even without its weights, is more than an ONNX file holds (2 GiB)",
            hint="large tensors in Constant nodes must become initializers",
        ) from error


def _name_nodes(model: onnx.ModelProto) -> None:
    """Give every node a name that no other has; the first bearer of a name keeps it.

    Inputs of graphs, and tensors that a branch takes from outside, become nodes of the
    same name in CANN's parser, so no node may have theirs either.
    """
    given = {node.name for node in every_node(model)}
    seen = {name for graph in every_graph(model) for name in _named_from_outside(graph)}
    given |= seen
    for position, node in enumerate(every_node(model)):
        if not node.name or node.name in seen:
            node.name = _free_name(f"{node.op_type}_{position}", given)
        seen.add(node.name)
        given.add(node.name)


def _named_from_outside(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield the names of the tensors that `graph` reads and does not make."""
    yield from (value.name for value in input_values(graph))
    own = {tensor.name for tensor in graph.initializer}
    own.update(name for node in graph.node for name in node.output)
    for node in graph.node:
        yield from (name for name in node.input if name not in own)


def _free_name(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate


def _prune_imports(model: onnx.ModelProto) -> None:
    """Keep the imports that nodes need, one each, ONNX's own first."""
    used = {"", *(node.domain for node in every_node(model))}
    used.update(function.domain for function in model.functions)
    versions: dict[str, int] = {}
    for opset in model.opset_import:
        domain = "" if opset.domain in DEFAULT_DOMAINS else opset.domain
        versions.setdefault(domain, opset.version)
    model.ClearField("opset_import")
    for domain in sorted(used & versions.keys()):
        model.opset_import.add(domain=domain, version=versions[domain])


def _prune_inputs(model: onnx.ModelProto) -> None:
    fed = list(input_values(model.graph))
    if len(fed) == len(model.graph.input):
        return
    model.graph.ClearField("input")
    model.graph.input.extend(fed)
    model.ir_version = max(model.ir_version, _FIRST_IR_WITHOUT_INITIALIZER_INPUTS)


def _clear(message: Any, *fields: str) -> None:
    """Clear those of `fields` that this onnx's message has."""
    for field in fields:
        if field in message.DESCRIPTOR.fields_by_name:
            message.ClearField(field)
