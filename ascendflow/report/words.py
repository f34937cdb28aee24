"""Numbers, names and thresholds as people read them; standard library only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EMULATED = "emulated, not run on a device"
MEASURED = "measured on a device"

FLOORED = "floored_max_relative_error"
FLOORED_WORDS = (
    "max relative error, its denominator floored at 1e-6 of the golden's range; judged too "
    "where an output has fewer than 8 elements, since cosine alone says little there"
)

REASONS = {
    "nonfinite": "the target has NaN or infinities that the golden has not",
    "cosine_similarity": "its cosine similarity is below 0.99",
    "relative_euclidean_distance": "its relative Euclidean distance is above 0.05",
    "incomparable": "golden and target differ in dtype or shape",
    "largest_drop": "no node is beyond a limit; this one loses most against its worst "
    "input",
}
"""Why a node is the one that the verdict names; the limits are metrics/divergent.py's."""

DIGITS = 6
WHOLE = 17
"""Digits that tell any two doubles apart."""
"""Significant digits of a number, unless it takes more to tell it from its limit."""


def target_words(target: Mapping[str, Any]) -> str:
    """Name the target and how its numbers were got; of a verdict or a report."""
    how = MEASURED if target["is_real_device"] else EMULATED
    names = f"CANN {target['cann']}, {target['soc_version']}, {target['precision_mode']}"
    return f"{names}; {how}"


def target_noun(target: Mapping[str, Any]) -> str:
    """Name the third column of an end metric."""
    return "target" if target["is_real_device"] else "emulated target"


def shown(value: float | str | None, digits: int = DIGITS) -> str:
    """Write a number with a few significant digits; "NaN" and "Infinity" as they are."""
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def near_one(value: float | str | None, limits: Iterable[float] = ()) -> str:
    """Write a number as `shown`, but "1 - 3e-06" where it would round to 1 and is not.

    With as many digits of the difference as tell it from that of a limit.
    """
    text = shown(value)
    if text != "1" or value is None or isinstance(value, str) or value == 1:
        return text
    others = [abs(1 - limit) for limit in limits if limit != value]
    rest = abs(1 - value)
    for digits in range(2, WHOLE):
        if all(shown(rest, digits) != shown(other, digits) for other in others):
            break
    return f"1 {'-' if value < 1 else '+'} {shown(rest, digits)}"


def value_words(check: Mapping[str, Any]) -> str:
    """Write a check's value as `near_one`, with the digits that tell it from its limit."""
    value, limits = check["value"], check["threshold"].values()
    text = near_one(value, limits)
    if isinstance(value, str) or text.startswith("1 "):
        return text
    for digits in range(DIGITS, WHOLE):
        if all(shown(value, digits) != shown(m, digits) for m in limits if m != value):
            return shown(value, digits)
    return repr(value)


def threshold_words(threshold: Mapping[Any, float]) -> str:
    """Say what a threshold asks for."""
    signs = {"min": ">=", "max": "<="}
    # Not rounded: the manifest's own number.
    return " and ".join(f"{signs[bound]} {limit!r}" for bound, limit in threshold.items())


def tightest_words(check: Mapping[str, Any]) -> str:
    """Write the tightest threshold that would pass, rounded to the side that passes.

    With more digits where it would be looser than a threshold that was met, and just below
    1, where six digits would write each value as 0.999999.
    """
    tightest = check["tightest"]
    if tightest is None or not math.isfinite(tightest):
        return ""
    bound = "min" if "min" in check["threshold"] else "max"
    met = check["threshold"][bound] if check["passed"] else None
    fewest = DIGITS
    if bound == "min" and 0 < (rest := 1 - tightest) < 1:
        fewest = max(DIGITS, math.ceil(-math.log10(rest)))
    for digits in range(fewest, WHOLE):
        text = _rounded(tightest, digits, is_floor=bound == "min")
        near = float(text)
        if met is None or (near >= met if bound == "min" else near <= met):
            return text
    return repr(tightest)


def _rounded(value: float, digits: int, *, is_floor: bool) -> str:
    """Round to `digits`, down or up, unless the nearest is on that side."""
    near = float(shown(value, digits))
    if near <= value if is_floor else near >= value:
        return shown(value, digits)
    import decimal

    rounding = decimal.ROUND_FLOOR if is_floor else decimal.ROUND_CEILING
    context = decimal.Context(prec=digits, rounding=rounding)
    return shown(float(context.create_decimal(decimal.Decimal(value))), digits)


def counted(count: int, noun: str) -> str:
    """Write a number of things: "1 node", "2 nodes"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def confidence_words(cause: Mapping[str, Any]) -> str:
    """Say how sure a deviation is; what was emulated is never more than that."""
    if "behaviours" in cause:
        return "unknown: emulated both ways"
    return f"emulated, confidence {cause['confidence']}"


def manifest_line(rules: str, more: str = "") -> str:
    """Spell a manifest's rules."""
    return f"rewrite: {{rules: [{rules}]{more}}}"


def lossy_line(rules: Iterable[str]) -> str:
    """Spell a manifest's rules with lossy ones, which auto leaves to the user."""
    return manifest_line(", ".join(["auto", *rules]), more=", allow_lossy: true")
