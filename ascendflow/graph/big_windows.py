"""Windows that are too big for CANN's pooling kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendflow.graph.windows import Window

LARGEST_AREA = 255
LARGEST_STRIDE = 63


def is_big(window: Window) -> bool:
    """Whether a window of one or two axes exceeds what the kernels of CANN take.

    Source: canndev `max_pool_plugin.cc`, `average_pool_plugin.cc`; ops-nn master
    `max_pool_onnx_plugin.cpp`; CANN 8.1.RC1 `dynamic/avg_pool_v2.py`.
    """
    too_far = any(stride > LARGEST_STRIDE for stride in window.strides)
    return window.rank <= 2 and (prod(window.kernel) > LARGEST_AREA or too_far)
