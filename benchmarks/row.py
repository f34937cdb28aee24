"""What every benchmark gives: rows of one table."""

from __future__ import annotations

from dataclasses import dataclass


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
