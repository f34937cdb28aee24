"""Numbers in documents: JSON has no NaN and no infinity, so they are written as words."""

from __future__ import annotations

import math
from typing import Literal

Number = float | Literal["NaN", "Infinity", "-Infinity"]


def encode(value: float) -> Number:
    """Spell a float so that `json.dumps(..., allow_nan=False)` accepts it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def decode(value: Number) -> float:
    """Read what `encode` wrote.

    Raises:
        ValueError: a word that `encode` never writes.
        TypeError: a bool, or no number at all.
    """
    if isinstance(value, str):
        if value not in ("NaN", "Infinity", "-Infinity"):
            raise ValueError(f"{value!r} is neither a number nor NaN, Infinity, -Infinity")
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
