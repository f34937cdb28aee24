"""How far two models' outputs are apart, over all samples.

The measure of the stages that promise not to change values.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from ascendflow.documents.golden import AgreementDocument


class Agreement:
    """Takes one output's golden and other values, sample by sample.

    Attributes:
        max_absolute_error: over all elements of all samples, in float64.
        mismatches: elements that differ.
        elements: elements seen.
    """

    def __init__(self) -> None:
        self.max_absolute_error = 0.0
        self.mismatches = 0
        self.elements = 0
        self.discrete = False
        self._low = float("inf")
        self._high = float("-inf")

    def add(self, golden: np.ndarray, other: np.ndarray) -> None:
        """Take one sample; both have one dtype and shape, and only finite values."""
        import numpy as np

        self.discrete = golden.dtype.kind in "iub"
        self.elements += golden.size
        if not golden.size:
            return
        # float64 holds what float32 differences need; 64-bit integers compare exactly.
        self.mismatches += int(np.count_nonzero(golden != other))
        wide, difference = golden.astype(np.float64), other.astype(np.float64)
        difference -= wide
        self.max_absolute_error = max(
            self.max_absolute_error, float(np.abs(difference).max())
        )
        self._low = min(self._low, float(wide.min()))
        self._high = max(self._high, float(wide.max()))

    @property
    def range(self) -> float:
        """The golden's max - min over all samples; if 0, max |x|; if that is 0 too, 1."""
        if not self.elements:
            return 1.0
        largest = max(abs(self._high), abs(self._low))
        width = self._high - self._low
        return (width if isfinite(width) else largest) or largest or 1.0

    @property
    def relative(self) -> float:
        """Max absolute error over the golden's range."""
        return self.max_absolute_error / self.range

    @property
    def judged(self) -> float:
        """What is held against a limit: `relative`, or the mismatch rate of integers."""
        if self.discrete:
            return self.mismatches / self.elements if self.elements else 0.0
        return self.relative

    def document(self) -> AgreementDocument:
        """Return the numbers as they are recorded."""
        return {
            "max_absolute_error": self.max_absolute_error,
            "range": self.range,
            "relative": self.relative,
            "mismatch_rate": self.judged if self.discrete else None,
        }


def _why_unlike(golden: np.ndarray, other: np.ndarray) -> str | None:
    """Return why two outputs cannot be compared at all, or None."""
    if golden.dtype != other.dtype:
        return f"is {other.dtype.name}, not {golden.dtype.name}"
    if golden.shape != other.shape:
        return f"has shape {list(other.shape)}, not {list(golden.shape)}"
    return None


def why_not_finite(array: np.ndarray) -> str | None:
    """Return how many elements are no finite numbers, or None."""
    import numpy as np

    if array.dtype.kind in "iub":
        return None
    wide = array.astype(np.float64)
    nan, infinite = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    if nan or infinite:
        return f"has {nan} NaN and {infinite} infinite of {array.size} elements"
    return None


def compare_outputs(
    agreements: dict[str, Agreement],
    golden: Mapping[str, np.ndarray],
    other: Mapping[str, np.ndarray],
    *,
    where: str,
) -> None:
    """Add one sample of every output.

    Args:
        agreements: filled by output name.
        golden: the trusted outputs, finite.
        other: the outputs under test, of the same names.
        where: whose outputs `other` are and of which sample, for messages.

    Raises:
        StageError: an output's dtype or shape differs, or `other` is not finite.
    """
    for name, trusted in golden.items():
        tested = other[name]
        reason = _why_unlike(trusted, tested) or why_not_finite(tested)
        if reason is not None:
            raise StageError(f"output {name!r} of {where} {reason}")
        agreements.setdefault(name, Agreement()).add(trusted, tested)


def refuse_beyond(
    agreements: Mapping[str, Agreement],
    limit: float,
    *,
    what: str,
    key: str,
    explain: Callable[[float], str | None] = lambda _: None,
) -> None:
    """Hold each output to `limit`.

    Args:
        agreements: by output name.
        limit: largest value of `Agreement.judged` that passes.
        what: what is compared, e.g. "PyTorch and the exported model differ".
        key: the manifest's key of the limit.
        explain: given the worst `Agreement.judged`, what may be its cause, for the hint.

    Raises:
        StageError: some output is beyond it; all of those are listed.
    """
    problems = [
        f"output {name!r}: "
        + (
            f"mismatch rate {a.judged:.3g}, allowed {limit:g}"
            if a.discrete
            else f"max absolute error {a.max_absolute_error:.3g} over a range of "
            f"{a.range:.3g} is {a.relative:.3g}, allowed {limit:g}"
        )
        for name, a in agreements.items()
        if not a.judged <= limit
    ]
    if problems:
        cause = explain(max(a.judged for a in agreements.values()))
        hint = "; ".join(filter(None, (f"the limit is {key}", cause)))
        raise StageError(f"{what}: " + "; ".join(problems), hint=hint)
