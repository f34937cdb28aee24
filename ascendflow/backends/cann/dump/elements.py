"""A tensor's bytes as numbers, by protobuf's numbers of element types."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.om.numbering import PROTO_DTYPES, named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ascendflow.backends.cann.dump.file import Dump
    from ascendflow.backends.cann.dump.tensor import Tensor

READ = {number: PROTO_DTYPES[number] for number in (*range(1, 13), 27, 34, 35)}
"""Of others numpy has no elements (hifloat8), or no source says how they are packed (int4).
"""


def dtype(number: int) -> np.dtype:
    """Return numpy's dtype of an element type.

    Raises:
        KeyError: it is not read.
    """
    import ml_dtypes
    import numpy as np

    name = READ[number]
    return np.dtype(getattr(ml_dtypes, name) if number > 12 else name)


def values(dump: Dump, tensor: Tensor) -> NDArray[np.generic]:
    """Return a tensor in the layout that it had in memory, shaped so, and read-only.

    Bytes beyond those that the shape needs are what the device rounded up.

    Raises:
        StageError: elements of that type are not read, or there are too few of them.
    """
    if tensor.dtype not in READ:
        name = named(PROTO_DTYPES, tensor.dtype)
        raise StageError(
            f"{dump.path}: a tensor of {dump.op_name or 'it'} has elements of type {name}",
            hint=f"those that are read: {', '.join(READ.values())}",
        )
    kind = dtype(tensor.dtype)
    needed = math.prod(tensor.shape) * kind.itemsize
    if needed > tensor.size:
        shape = "x".join(map(str, tensor.shape)) or "a scalar"
        raise StageError(
            f"{dump.path}: a tensor of {dump.op_name or 'it'} has {tensor.size} bytes, "
            f"{shape} of {kind.name} needs {needed}"
        )
    return dump.raw(tensor)[:needed].view(kind).reshape(tensor.shape)
