"""Types of tensors that several parts must know."""

from __future__ import annotations

import onnx_ir as ir

FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.FLOAT16})
"""The floating types that CANN computes in here."""
