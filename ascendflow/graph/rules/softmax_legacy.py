"""Softmax before opset 13: Flatten, Softmax along the last axis, Reshape.

CANN's own pass inserts such reshapes, but not for rank 2 with axis 0 and not for two
shapes on a list of exceptions, where it normalises along `axis` alone. Spelled out there
is nothing left to insert. onnxruntime coerces in the same way, so its values are the same
bits.

Source: ONNX operator docs, Softmax-11; canndev `softmaxv2_onnx_fusion_pass.cc`, 2022-06.
"""

from __future__ import annotations

from typing import ClassVar

from ascendflow.graph.rules.softmax_legacy_base import LegacySoftmax


class SoftmaxLegacy(LegacySoftmax):
    """Make the coercion to two dimensions visible."""

    name: ClassVar[str] = "softmax-legacy"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Softmax"})
