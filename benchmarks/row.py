"""What every benchmark gives: rows of one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Row:
    """One claim and what was measured of it.

    Attributes:
        claim: what is measured, in words.
        value: the measurement.
        limit: the largest value that holds the claim.
        unit: "x" for a ratio, "ms", "MB", "modules", or nothing of a count.
        detail: what the value was made of.
    """

    claim: str
    value: float
    limit: float
    unit: str
    detail: str

    @property
    def holds(self) -> bool:
        """Whether the claim holds; NaN does not."""
        return self.value <= self.limit


def beyond_stages(
    claim: str, rounds: Sequence[tuple[float, float]], least_limit: float = 1000
) -> Row:
    """Tell the round that took least beside its stages' processes.

    Args:
        claim: what is measured, in words.
        rounds: ms of each, and of its stages' processes of that.
        least_limit: ms; the limit is a tenth of the processes' where that is more.
    """
    whole, own = min(rounds, key=lambda spent: spent[0] - spent[1])
    detail = f"{whole:.0f} ms, of which its stages' processes took {own:.0f}"
    detail += f"; the least of {len(rounds)} rounds"
    return Row(claim, whole - own, max(least_limit, own / 10), "ms", detail)


def table(rows: list[Row]) -> str:
    """Return the rows as aligned text, the widest cell of a column deciding its width."""
    cells = [("claim", "measured", "limit", "holds", "detail")]
    cells += [
        (
            row.claim,
            f"{row.value:.2f} {row.unit}",
            f"{row.limit:g} {row.unit}",
            "yes" if row.holds else "NO",
            row.detail,
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in cells
    )
