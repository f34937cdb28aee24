"""Names of ONNX's own operators that several parts must know."""

from __future__ import annotations

DEFAULT_DOMAINS = ("", "ai.onnx")
"""Both spellings of the domain of ONNX's own operators."""

RANDOM_OPERATORS = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
"""Operators of which each run gives other numbers."""
