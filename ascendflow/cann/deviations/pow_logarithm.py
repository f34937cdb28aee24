"""Pow with any other exponent that runs as exp(y ln |x|) in fp16 (`cann.pow_kernel`)."""

from __future__ import annotations

from typing import ClassVar

from ascendflow.cann.deviations.pow_square import PowSquare


class PowLogarithm(PowSquare):
    """A Pow that is a root, a reciprocal, or has no other spelling."""

    name: ClassVar[str] = "pow-logarithm"
    cure: ClassVar[str | None] = "pow-to-sqrt"

    def is_ours(self, power: float | str) -> bool:
        """Return whether it is no small product."""
        return not super().is_ours(power)
