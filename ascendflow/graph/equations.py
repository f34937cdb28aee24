"""Einsum equations of two operands, as a batched matrix product."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True)
class Equation:
    """`left,right->out`, one letter for each dimension.

    Attributes:
        batch: letters of both operands and the output.
        summed: letters of both operands only.
        rows: letters of the left operand and the output.
        columns: letters of the right operand and the output.
    """

    left: str
    right: str
    out: str
    batch: str
    summed: str
    rows: str
    columns: str

    @property
    def product(self) -> str:
        """What the matrix product gives: batch, rows, columns."""
        return self.batch + self.rows + self.columns


def parse(text: str) -> Equation | str:
    """Read an equation, or say why it is no product of two matrices."""
    text = text.replace(" ", "")
    if "." in text:
        return "its equation has an ellipsis"
    operands, arrow, out = text.partition("->")
    terms = operands.split(",")
    if len(terms) != 2:
        return f"it has {len(terms)} operands, not two"
    if not arrow:
        counts = Counter(chain(*terms))
        out = "".join(sorted(letter for letter, n in counts.items() if n == 1))
    left, right = terms
    if any(len(set(term)) < len(term) for term in (left, right, out)):
        return "a letter stands twice in one term"
    if unknown := set(out) - set(left) - set(right):
        return f"{', '.join(sorted(unknown))} is in the output only"
    if alone := (set(left) ^ set(right)) - set(out):
        return f"{', '.join(sorted(alone))} is summed over in one operand alone"
    return Equation(
        left,
        right,
        out,
        batch="".join(c for c in left if c in right and c in out),
        summed="".join(c for c in left if c in right and c not in out),
        rows="".join(c for c in out if c in left and c not in right),
        columns="".join(c for c in out if c in right and c not in left),
    )
