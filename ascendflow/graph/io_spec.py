"""Inputs, outputs and opset of an ONNX model, read from its protobuf alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    import onnx

_NAMES = {"undefined": "", "float": "float32", "double": "float64"}
"""Where ONNX calls an element type differently from numpy."""


class ValueSpec(NamedTuple):
    """An input or output as the model declares it.

    Attributes:
        name: the tensor's name.
        dtype: numpy or ml_dtypes name, e.g. "bfloat16"; "sequence", "optional", "map" or
            "string" for what is no numeric tensor; "" where the model does not say.
        shape: an int where a dimension is fixed, else its symbol or None; None where not
            even the rank is known.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None


def value_spec(value: onnx.ValueInfoProto) -> ValueSpec:
    """Read one declaration. Lengths of 0 or below, and "?", count as dynamic."""
    kind = value.type.WhichOneof("value")
    if kind is None:
        return ValueSpec(value.name, "", None)
    if kind != "tensor_type":
        return ValueSpec(value.name, kind.removesuffix("_type"), None)
    tensor = value.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(_length(dimension) for dimension in tensor.shape.dim)
    return ValueSpec(value.name, dtype_name(tensor.elem_type), shape)


def dtype_name(elem_type: int) -> str:
    """Return numpy's (or ml_dtypes') name of an ONNX element type; "" for undefined.

    A number that ONNX has no type for is its own name.
    """
    import onnx

    if elem_type not in onnx.TensorProto.DataType.values():
        return str(elem_type)
    name: str = onnx.TensorProto.DataType.Name(elem_type).lower()
    return _NAMES.get(name, name)


def input_values(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return what must be fed: graph inputs that are no initializers (IR 3 lists both)."""
    constants = {tensor.name for tensor in graph.initializer}
    constants.update(tensor.values.name for tensor in graph.sparse_initializer)
    return [value for value in graph.input if value.name not in constants]


def inputs_of(model: onnx.ModelProto) -> tuple[ValueSpec, ...]:
    """Return what must be fed, in the model's order."""
    return tuple(value_spec(value) for value in input_values(model.graph))


def outputs_of(model: onnx.ModelProto) -> tuple[ValueSpec, ...]:
    """Return what comes out, in the model's order."""
    return tuple(value_spec(value) for value in model.graph.output)


def opset_of(model: onnx.ModelProto) -> int | None:
    """Return the version of ONNX's own operators the model imports, or None."""
    for opset in model.opset_import:
        if opset.domain in DEFAULT_DOMAINS:
            return int(opset.version)
    return None


def fits(shape: tuple[int, ...], declared: tuple[int | str | None, ...]) -> bool:
    """Whether a shape is one that was declared; what is not fixed there fits any length."""
    return len(shape) == len(declared) and all(
        not isinstance(want, int) or have == want
        for have, want in zip(shape, declared, strict=True)
    )


def _length(dimension: onnx.TensorShapeProto.Dimension) -> int | str | None:
    """Return one dimension; some exporters write -1 for "dynamic"."""
    if dimension.HasField("dim_value") and dimension.dim_value > 0:
        return int(dimension.dim_value)
    return dimension.dim_param or None
