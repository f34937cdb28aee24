"""Text in an ONNX file that is not UTF-8: protobuf then gives bytes where a str belongs.

An attribute's text is a field of bytes, so protobuf says nothing of it; ONNX wants UTF-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.graph.outline import label

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx


def spelled(text: str | bytes) -> str:
    """Return a text as one; of bytes, those that are no UTF-8 are spelled out."""
    return text if isinstance(text, str) else text.decode(errors="backslashreplace")


def not_utf8(message: Any) -> Iterator[str]:
    """Say of each text of a model, sub-graphs included, that is not UTF-8.

    Nothing may work on such a model: onnx and onnx-ir raise where they meet the name.
    """
    import onnx

    # Not all fields of a tensor: to ask for them copies its weights.
    if isinstance(message, onnx.TensorProto):
        yield from _tensor(message)
        return
    if isinstance(message, onnx.NodeProto):
        yield from _attributes(message)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in [value] if hasattr(value, "ListFields") else value:
                yield from not_utf8(inner)
        elif field.type == field.TYPE_STRING:
            for text in [value] if isinstance(value, str | bytes) else value:
                if isinstance(text, bytes):
                    owner = message.DESCRIPTOR.name.removesuffix("Proto")
                    yield f"the {field.name} of a {owner} is not UTF-8: {text!r}"


def _tensor(tensor: onnx.TensorProto) -> Iterator[str]:
    if isinstance(tensor.name, bytes):
        yield f"a tensor's name is not UTF-8: {tensor.name!r}"
    for entry in tensor.external_data:
        yield from not_utf8(entry)


def _attributes(node: onnx.NodeProto) -> Iterator[str]:
    for attribute in node.attribute:
        for text in (attribute.s, *attribute.strings):
            try:
                text.decode()
            except UnicodeDecodeError:
                yield f"node {label(node)!r}: its {attribute.name!r} is not UTF-8: {text!r}"
