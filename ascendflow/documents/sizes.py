"""How many bytes a tensor takes, by the name of its element type and its shape."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BITS = re.compile(r"(?:q?u?int|b?float|hifloat|complex)(\d{1,3})(?!\d)")
"""The number in a name is how many bits an element has."""


def bytes_of(dtype: str, shape: Iterable[object] | None) -> int | None:
    """Return the bytes of a dense tensor; elements of few bits lie side by side.

    Args:
        dtype: e.g. "float16", "int4", "float8_e4m3fn", "bool".
        shape: null where not even the rank is known.

    Returns:
        None where a size is not fixed, or an element has no fixed number of bits.
    """
    bits = 8 if dtype == "bool" else None
    if (match := _BITS.match(dtype)) is not None:
        bits = int(match[1])
    sizes = None if shape is None else list(shape)
    if bits is None or sizes is None:
        return None
    fixed = [size for size in sizes if isinstance(size, int) and size >= 0]
    return (math.prod(fixed) * bits + 7) // 8 if len(fixed) == len(sizes) else None
