"""Changes of an ONNX message, in place, each somewhere at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fuzz.names import LOCATIONS, NAMES, NOT_UTF8

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    import onnx
    from google.protobuf.descriptor import FieldDescriptor

    Change = Callable[[onnx.ModelProto, random.Random], None]

INTEGERS = (0, 1, -1, 2, 3, 7, 16, 65, 127, 255, 5000, (1 << 31) - 1)
WIDE = (-(1 << 31), 1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))


def _messages(message: Any) -> Iterator[Any]:
    yield message
    for field, held in message.ListFields():
        if field.message_type is not None:
            for each in [held] if hasattr(held, "ListFields") else held:
                yield from _messages(each)


def texts(model: onnx.ModelProto) -> Iterator[tuple[Any, FieldDescriptor]]:
    """Yield each message and its field that holds one text."""
    for message in _messages(model):
        for field, held in message.ListFields():
            if field.type == field.TYPE_STRING and isinstance(held, str):
                yield message, field


def _any_field(model: onnx.ModelProto, rng: random.Random) -> None:
    """Change whatever field of whatever message: generic, so that nothing is left out."""
    message = rng.choice(list(_messages(model)))
    field = rng.choice(message.DESCRIPTOR.fields)
    held = getattr(message, field.name)
    if field.is_repeated:
        _change_list(held, field, rng)
    elif field.message_type is not None:
        others = [m for m in _messages(model) if m.DESCRIPTOR is field.message_type]
        if others and rng.random() < 0.6:
            other = type(rng.choice(others))()
            other.CopyFrom(rng.choice(others))
            held.CopyFrom(other)
        else:
            message.ClearField(field.name)
    elif rng.random() < 0.2:
        message.ClearField(field.name)
    else:
        _assign(message, field, rng)


def _change_list(held: Any, field: FieldDescriptor, rng: random.Random) -> None:
    how = rng.choice(("remove", "double", "shuffle", "clear", "add"))
    at = rng.randrange(len(held)) if held else None
    if how == "clear":
        del held[:]
    elif how == "remove" and at is not None:
        del held[at]
    elif how == "shuffle" and field.message_type is not None:
        held.sort(key=lambda _: rng.random())
    elif how == "double" and at is not None and field.message_type is not None:
        held.add().CopyFrom(held[at])
    elif field.message_type is not None:
        held.add()
    else:
        held.append(_value(field, rng))


def _value(field: FieldDescriptor, rng: random.Random) -> Any:
    if field.type == field.TYPE_STRING:
        return rng.choice(NAMES)
    if field.type == field.TYPE_BYTES:
        return rng.choice((b"", b"\0", rng.randbytes(5), rng.randbytes(64)))
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return rng.choice(FLOATS)
    if field.type == field.TYPE_ENUM:
        return rng.choice((0, 1, 2, 3, 7, 99))
    is_wide = field.type in (field.TYPE_INT64, field.TYPE_UINT64)
    number = rng.choice((*INTEGERS, *(WIDE if is_wide else ())))
    return abs(number) if field.type == field.TYPE_UINT64 else number


def _assign(message: Any, field: FieldDescriptor, rng: random.Random) -> None:
    try:
        setattr(message, field.name, _value(field, rng))
    except ValueError:  # an enum that is closed, a string that may not be
        message.ClearField(field.name)


def nodes(model: onnx.ModelProto) -> list[Any]:
    """List every node, sub-graphs and functions included."""
    return [m for m in _messages(model) if m.DESCRIPTOR.name == "NodeProto"]


def _tensors(model: onnx.ModelProto) -> list[Any]:
    return [m for m in _messages(model) if m.DESCRIPTOR.name == "TensorProto"]


def _rewire(model: onnx.ModelProto, rng: random.Random) -> None:
    """Let a node read what is not there, what comes later, or its own output."""
    node = rng.choice(nodes(model))
    names = [name for each in nodes(model) for name in (*each.output, *each.input)]
    if node.input:
        at = rng.randrange(len(node.input))
        node.input[at] = rng.choice((*names, "ghost", ""))


def _rename(model: onnx.ModelProto, rng: random.Random) -> None:
    """Give a tensor another name, wherever it is named: a valid model, but for its name."""
    node = rng.choice(nodes(model))
    names = [name for name in (*node.input, *node.output) if name]
    if not names:
        return
    old, new = rng.choice(names), rng.choice(NAMES)
    for message in list(_messages(model)):
        for field, held in message.ListFields():
            if field.type != field.TYPE_STRING:
                continue
            if isinstance(held, str):
                if held == old:
                    setattr(message, field.name, new)
            else:
                for at, text in enumerate(held):
                    held[at] = new if text == old else text


def _name(model: onnx.ModelProto, rng: random.Random) -> None:
    message, field = rng.choice(list(texts(model)))
    setattr(message, field.name, rng.choice(NAMES))


def _node_name(model: onnx.ModelProto, rng: random.Random) -> None:
    rng.choice(nodes(model)).name = rng.choice(NAMES)


def _same_output(model: onnx.ModelProto, rng: random.Random) -> None:
    one, other = (rng.choice(nodes(model)) for _ in range(2))
    if one.output and other.output:
        other.output[0] = one.output[0]


def _operator(model: onnx.ModelProto, rng: random.Random) -> None:
    others = ("Loop", "If", "Scan", "LSTM", "Constant", "Nope", "RandomNormal", "Einsum")
    rng.choice(nodes(model)).op_type = rng.choice(
        (*others, *(each.op_type for each in nodes(model)))
    )


def _drop_node(model: onnx.ModelProto, rng: random.Random) -> None:
    if model.graph.node:
        del model.graph.node[rng.randrange(len(model.graph.node))]


def _shape(model: onnx.ModelProto, rng: random.Random) -> None:
    """Declare an input, output or inner value of another type or shape."""
    values = [m for m in _messages(model) if m.DESCRIPTOR.name == "ValueInfoProto"]
    value = rng.choice(values) if values else model.graph.input.add()
    tensor = value.type.tensor_type
    how = rng.choice(("type", "length", "length", "add", "symbol", "rank"))
    if how == "type":
        tensor.elem_type = rng.choice((0, 1, 6, 7, 8, 9, 10, 16, 23, 99, -1))
    elif how == "add":
        tensor.shape.dim.add().dim_value = rng.choice((*INTEGERS, *WIDE))
    elif how == "rank":
        tensor.ClearField("shape")
    elif tensor.shape.dim:
        dim = rng.choice(tensor.shape.dim)
        if how == "length":
            dim.dim_value = rng.choice((*INTEGERS, *WIDE))
        else:
            dim.dim_param = rng.choice(NAMES)


def _tensor(model: onnx.ModelProto, rng: random.Random) -> None:
    """Make a stored tensor's dims, type and bytes disagree."""
    tensors = _tensors(model)
    if not tensors:
        return
    tensor = rng.choice(tensors)
    how = rng.choice(("dims", "type", "short", "long", "values", "segment", "double"))
    if how == "dims":
        del tensor.dims[:]
        tensor.dims.extend(rng.choice((*INTEGERS, *WIDE)) for _ in range(rng.randrange(4)))
    elif how == "type":
        tensor.data_type = rng.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 17, 22, 99, -1))
    elif how == "short":
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif how == "long":
        tensor.raw_data = tensor.raw_data + rng.randbytes(rng.choice((1, 4, 400)))
    elif how == "values":
        patterns = [np.float32(f).tobytes() for f in FLOATS] + [b"\xff" * 8, b"\0" * 8]
        count = max(len(tensor.raw_data), 4)
        tensor.raw_data = (rng.choice(patterns) * count)[:count]
    elif how == "segment":
        tensor.segment.begin, tensor.segment.end = rng.choice(WIDE), rng.choice(WIDE)
    else:
        tensor.int64_data.extend([1, 2, 3])


def _outside(model: onnx.ModelProto, rng: random.Random) -> None:
    """Let a tensor's bytes lie somewhere else."""
    tensors = _tensors(model)
    if not tensors:
        return
    tensor = rng.choice(tensors)
    tensor.data_location = 1
    tensor.ClearField("raw_data")
    del tensor.external_data[:]
    said = {"location": rng.choice((*LOCATIONS, "weights.bin"))}
    numbers = ("0", "-1", "1", "432", "1e3", "", " 4", "9" * 30, "0x10", "\u0664", "nan")
    for key in ("offset", "length"):
        if rng.random() < 0.5:
            said[key] = rng.choice(numbers)
    if rng.random() < 0.1:
        said[rng.choice(("checksum", "basepath", ""))] = rng.choice(NAMES)
    for key, text in said.items():
        tensor.external_data.add(key=key, value=text)


def _attribute(model: onnx.ModelProto, rng: random.Random) -> None:
    """Give an attribute another type, value or name, or add one that is not known."""
    held = [m for m in _messages(model) if m.DESCRIPTOR.name == "AttributeProto"]
    attribute = rng.choice(held) if held and rng.random() < 0.8 else None
    if attribute is None:
        attribute = rng.choice(nodes(model)).attribute.add(name=rng.choice(("axis", "q")))
    how = rng.choice(("type", "integer", "integers", "text", "empty", "refer"))
    if how == "type":
        attribute.type = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 14))
    elif how == "integer":
        attribute.i, attribute.type = rng.choice((*INTEGERS, *WIDE)), 2
    elif how == "integers":
        del attribute.ints[:]
        attribute.ints.extend(
            rng.choice((*INTEGERS, *WIDE)) for _ in range(rng.choice((0, 1, 2, 4, 500)))
        )
        attribute.type = 7
    elif how == "text":
        attribute.s, attribute.type = rng.choice((b"", b"\xff", b"linear", b"\0")), 3
    elif how == "refer":
        attribute.ref_attr_name = rng.choice(("q", ""))
    else:
        name = attribute.name
        attribute.Clear()
        attribute.name = name


def _opset(model: onnx.ModelProto, rng: random.Random) -> None:
    versions = (*INTEGERS, *WIDE, 8, 11, 13, 18, 22, 26, 27)
    how = rng.choice(("version", "domain", "clear", "again", "ir"))
    if how == "clear":
        del model.opset_import[:]
    elif how == "ir":
        model.ir_version = rng.choice(versions)
    elif how == "again":
        domains = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "own")
        model.opset_import.add(domain=rng.choice(domains), version=rng.choice(versions))
    elif model.opset_import:
        chosen = rng.choice(model.opset_import)
        if how == "version":
            chosen.version = rng.choice(versions)
        else:
            chosen.domain = rng.choice(NAMES)


def _domain(model: onnx.ModelProto, rng: random.Random) -> None:
    domains = ("ai.onnx", "ai.onnx.ml", "com.microsoft", "own", "../x", NOT_UTF8)
    rng.choice(nodes(model)).domain = rng.choice(domains)


def _inputs(model: onnx.ModelProto, rng: random.Random) -> None:
    """Add an output or input that is no tensor, or is not made."""
    held = rng.choice((model.graph.output, model.graph.input))
    new = held.add(name=rng.choice((*NAMES, "s", "r", "m")))
    kind = rng.choice(("tensor", "sequence", "optional", "map", "none"))
    if kind == "tensor":
        new.type.tensor_type.elem_type = 1
    elif kind == "sequence":
        new.type.sequence_type.elem_type.tensor_type.elem_type = 1
    elif kind == "optional":
        new.type.optional_type.elem_type.tensor_type.elem_type = 1
    elif kind == "map":
        new.type.map_type.key_type = 7


CHANGES: tuple[Change, ...] = (
    *(_any_field, _any_field, _any_field, _rewire, _rename, _name, _node_name),
    *(_same_output, _operator, _drop_node, _shape, _shape, _tensor, _tensor, _outside),
    *(_attribute, _attribute, _opset, _domain, _inputs),
)
