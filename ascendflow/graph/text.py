"""Text in an ONNX file that is not UTF-8: protobuf then gives bytes where a str belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def not_utf8(message: Any) -> Iterator[str]:
    """Say of each text of a model, sub-graphs included, that is not UTF-8.

    Nothing may work on such a model: onnx and onnx-ir raise where they meet the name.
    """
    import onnx

    # Not all fields of a tensor: to ask for them copies its weights.
    if isinstance(message, onnx.TensorProto):
        if isinstance(message.name, bytes):
            yield f"a tensor's name is not UTF-8: {message.name!r}"
        for entry in message.external_data:
            yield from not_utf8(entry)
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in [value] if hasattr(value, "ListFields") else value:
                yield from not_utf8(inner)
        elif field.type == field.TYPE_STRING:
            for text in [value] if isinstance(value, str | bytes) else value:
                if isinstance(text, bytes):
                    owner = message.DESCRIPTOR.name.removesuffix("Proto")
                    yield f"the {field.name} of a {owner} is not UTF-8: {text!r}"
