"""What storing in fp16 makes of numbers, in plain numpy; shares nothing with ascendflow."""

from __future__ import annotations

from typing import Any

import numpy as np


def half(x: object) -> np.ndarray:
    """Store as IEEE 754 does, infinities included; fp32 again."""
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)


def clipped_half(x: object, wide: Any = np.float32) -> np.ndarray:
    """Store on a SoC that saturates; `wide` is the type before and after."""
    clipped = np.clip(np.asarray(x, wide), -65504, 65504)
    return np.asarray(clipped.astype(np.float16), wide)
