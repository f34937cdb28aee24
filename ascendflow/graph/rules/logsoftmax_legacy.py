"""LogSoftmax before opset 13: Flatten, LogSoftmax along the last axis, Reshape.

CANN's parser takes -1 where `axis` is absent, and never coerces to two dimensions. Spelled
out both readings agree. onnxruntime coerces in the same way, so its values are the same
bits.

Source: ONNX operator docs, LogSoftmax-11; canndev `logsoftmax_plugin.cc`, 2022-06, and
ops-nn `logsoftmax_onnx_plugin.cpp`, 9.1.0.
"""

from __future__ import annotations

from typing import ClassVar

from ascendflow.graph.rules.softmax_legacy_base import LegacySoftmax


class LogSoftmaxLegacy(LegacySoftmax):
    """Make the coercion to two dimensions visible."""

    name: ClassVar[str] = "logsoftmax-legacy"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"LogSoftmax"})
