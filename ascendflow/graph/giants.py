"""Tensors that are too large to be looked at, told from shapes alone.

Shape inference keeps one message for each element of a vector that is cast; what looks at
the rows of a tensor, or computes it, would not end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ascendflow.graph.traverse import every_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx

_LONGEST_FOLLOWED = 1 << 20
"""Elements of a vector; half a second."""
_LARGEST_TENSOR = 1 << 30
"""Elements; 4 GiB in fp32."""
_MOST_DIMENSIONS = 64
"""Of an array of numpy."""
_MAKING = frozenset({"ConstantOfShape", "Expand", "Range", "Tile"})
_FEW = 16
"""Elements of a constant that says how much to make."""


def can_follow(model: onnx.ModelProto) -> bool:
    """Return whether no vector is too long for inference to follow its values."""
    return max(_vector_lengths(model), default=0) <= _LONGEST_FOLLOWED


def why_giant(name: str | None, shape: Sequence[int]) -> str | None:
    """Say that a tensor of `shape` is too large to be looked at, or return None."""
    if len(shape) > _MOST_DIMENSIONS:
        return f"tensor {name!r} has {len(shape)} dimensions, of at most {_MOST_DIMENSIONS}"
    if (count := math.prod(shape)) <= _LARGEST_TENSOR:
        return None
    return (
        f"tensor {name!r} has shape {list(shape)}: {count} elements, of at most "
        f"{_LARGEST_TENSOR}"
    )


def _vector_lengths(declared: onnx.ModelProto) -> Iterator[int]:
    """Give how long vectors may be: those that are fed, those that constants ask for."""
    for value in declared.graph.input:
        if len(dimensions := value.type.tensor_type.shape.dim) == 1:
            yield dimensions[0].dim_value
    numbers = {tensor.name: tensor for tensor in declared.graph.initializer}
    for node in every_node(declared):
        if node.op_type == "Constant" and node.attribute[0].HasField("t"):
            numbers[node.output[0]] = node.attribute[0].t
        elif node.op_type in _MAKING:
            asked = (numbers[name] for name in node.input if name in numbers)
            yield from (_largest(tensor) for tensor in asked)


def _largest(tensor: onnx.TensorProto) -> int:
    import onnx

    if tensor.data_location == onnx.TensorProto.EXTERNAL or math.prod(tensor.dims) > _FEW:
        return 0
    numbers = onnx.numpy_helper.to_array(tensor)
    if numbers.dtype.kind not in "iu" or not numbers.size:
        return 0
    return max(abs(int(number)) for number in numbers.ravel())
