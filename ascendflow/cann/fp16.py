"""What fp16 can hold."""

from __future__ import annotations

HALF_MAX = 65504.0
"""The largest finite fp16 number."""
