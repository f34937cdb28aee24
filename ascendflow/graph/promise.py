"""What a rule's effect promises of an output, and how far a pair of outputs is from it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ascendflow.documents.check import OutputDifference
    from ascendflow.documents.rewrite_log import Effect

EQUIVALENT = 1e-5
"""The largest error of an `equivalent` rule, as a share of the output's range."""

ROUNDING = 2.0**-20
"""Share of max |x| below which a range is only the rounding of float32: eight units in the
last place."""


@dataclass
class Difference:
    """One output before and after an edit, over all samples seen so far.

    Attributes:
        identical: every sample had the same bits; NaN equals NaN of any bits.
        mismatch: what no error can measure: dtype, shape, or where NaN and infinities are.
        max_absolute_error: over the finite elements, in float64.
        worst: sample id and the two values where the error is largest.
    """

    identical: bool = True
    mismatch: str | None = None
    max_absolute_error: float = 0.0
    worst: tuple[str, float, float] | None = None
    lowest: float = inf
    highest: float = -inf

    @property
    def range(self) -> float:
        """Largest minus smallest finite value before the edit; 0 where there is none."""
        return max(self.highest - self.lowest, 0.0)

    @property
    def scale(self) -> float:
        """What an error is measured by: the range; if 0, max |x|; if that is 0, 1.

        A range beyond float64 would allow every error, and one that is only rounding (a
        Softmax of one element gives 1 and 1.0000005) none: max |x| takes their place.
        """
        if self.highest < self.lowest:
            return 1.0
        largest = max(abs(self.lowest), abs(self.highest))
        is_range = isfinite(self.range) and self.range > ROUNDING * largest
        return (self.range if is_range else largest) or 1.0

    def add(self, sample: str, before: np.ndarray, after: np.ndarray) -> None:
        """Take in one sample's pair of outputs."""
        import numpy as np

        if (before.dtype, before.shape) != (after.dtype, after.shape):
            self._differ(
                f"{before.dtype} {before.shape} became {after.dtype} {after.shape} "
                f"(sample {sample!r})"
            )
            return
        wide = before.astype(np.float64).ravel()
        finite = wide[np.isfinite(wide)]
        if finite.size:
            self.lowest = min(self.lowest, float(finite.min()))
            self.highest = max(self.highest, float(finite.max()))
        if before.tobytes() != after.tobytes():
            self._measure(sample, wide, after.astype(np.float64).ravel())
            self.identical &= _same_bits(before, after)

    def why_broken(self, effect: Effect) -> str | None:
        """Return how this output breaks the promise `effect`, or None where it holds."""
        if effect == "lossy":
            return None
        if self.mismatch is not None:
            return self.mismatch
        allowed = 0.0 if effect == "exact" else EQUIVALENT * self.scale
        if self.max_absolute_error > allowed:
            error = (
                f"max absolute error {self.max_absolute_error:.6g}, allowed {allowed:.6g}"
            )
            if self.worst is None:
                return error
            sample, old, new = self.worst
            return f"{error} (sample {sample!r}: {old:.9g} became {new:.9g})"
        if effect == "exact" and not self.identical:
            return "the bits differ (0.0 against -0.0), allowed none"
        return None

    def summary(self) -> OutputDifference:
        """Return what the check document keeps."""
        return {"max_absolute_error": self.max_absolute_error, "range": self.range}

    def _differ(self, mismatch: str) -> None:
        self.identical = False
        self.mismatch = self.mismatch or mismatch

    def _measure(self, sample: str, before: np.ndarray, after: np.ndarray) -> None:
        import numpy as np

        finite = np.isfinite(before)
        if not np.array_equal(before[~finite], after[~finite], equal_nan=True) or (
            not np.isfinite(after[finite]).all()
        ):
            self._differ(f"NaN or infinities are not where they were (sample {sample!r})")
            return
        apart = np.subtract(before, after, where=finite, out=np.zeros_like(before))
        error = np.abs(apart)
        at = int(error.argmax())
        if error[at] > self.max_absolute_error:
            self.max_absolute_error = float(error[at])
            self.worst = (sample, float(before[at]), float(after[at]))


def _same_bits(before: np.ndarray, after: np.ndarray) -> bool:
    import numpy as np

    if before.dtype.kind != "f":
        return before.tobytes() == after.tobytes()
    numbers = ~np.isnan(before)
    return bool(
        np.array_equal(numbers, ~np.isnan(after))
        and before[numbers].tobytes() == after[numbers].tobytes()
    )
