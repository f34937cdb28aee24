"""What is wrong with a set of samples, each kind of problem told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WRONG_LIMIT = 20
"""Wrong samples after which the rest is not looked at any more."""
SHOWN = 3
"""Samples that a line names where not all have its problem."""


class ProblemList:
    """Gathers the problems of one sample after the other."""

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self._samples = 0
        self._wrong = 0

    def __bool__(self) -> bool:
        """Return whether there is any problem."""
        return bool(self._wrong)

    @property
    def kinds(self) -> Iterable[str]:
        """What is wrong, each kind once."""
        return self._kinds.keys()

    @property
    def full(self) -> bool:
        """Whether enough is known to stop."""
        return self._wrong >= WRONG_LIMIT

    def add(self, sample: str, problems: Iterable[str]) -> None:
        """Take the next sample, and what is wrong with it, if anything.

        Args:
            sample: what to call it, e.g. "'cat-7'" or "number 3".
            problems: the same text for the same kind of problem.
        """
        self._samples += 1
        kinds = list(dict.fromkeys(problems))
        for kind in kinds:
            self._kinds.setdefault(kind, []).append(sample)
        self._wrong += bool(kinds)

    def message(self) -> str:
        """Return the number of kinds, then one line for each."""
        more = f" (no more looked at after {WRONG_LIMIT} wrong samples)" * self.full
        lines = [f"\n  - {self._who(names)}: {kind}" for kind, names in self._kinds.items()]
        counted = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
        return f"{counted}{more}:{''.join(lines)}"

    def _who(self, names: list[str]) -> str:
        if len(names) == 1:
            return f"sample {names[0]}"
        total = f"the first {self._samples}" if self.full else str(self._samples)
        if len(names) == self._samples:
            return f"all of {total} samples" if self.full else f"all {total} samples"
        listed = ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
        return f"{len(names)} of {total} samples ({listed})"
