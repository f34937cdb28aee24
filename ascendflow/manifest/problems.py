"""Problems of a manifest: where, what, what to do; told all at once."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

Keys = tuple[str | int, ...]
"""The way from the top of the manifest to a value: ("inputs", 0, "name")."""

MOST_NEAR = 8
"""Most names that are proposed in place of one; a family of SoCs has up to six."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        keys: where; empty for the manifest as a whole.
        text: what, as it follows the key: "must be an integer, got 'a'".
        hint: what to do next, or None.
        line: where, if the loader cannot tell from `keys`; 1-based.
        is_apart: it stays when the others of the same value are mended, so it is told
            beside them; of the rest the first is.
    """

    keys: Keys
    text: str
    hint: str | None = None
    line: int | None = None
    is_apart: bool = False

    def render(self, file: str, line: int) -> str:
        """Return "file:line: key text" and, on a line of its own, the hint."""
        message = f"{file}:{line}: {dotted(self.keys)} {self.text}"
        return message if self.hint is None else f"{message}\n  hint: {self.hint}"


def listed(problems: Iterable[Problem]) -> str:
    """Tell problems that have no lines, of each value the first, with its hint."""
    first: dict[Keys, Problem] = {}
    for problem in problems:
        first.setdefault(problem.keys, problem)
    lines = [
        f"{dotted(each.keys)} {each.text}" + (f"\n  hint: {each.hint}" if each.hint else "")
        for each in first.values()
    ]
    return "\n".join(lines if len(lines) == 1 else ["", *lines])


def dotted(keys: Keys) -> str:
    """Spell a way as a reader would: `inputs[0].shape[2]`."""
    if not keys:
        return "the manifest"
    spelled = ""
    for key in keys:
        if isinstance(key, int):
            spelled += f"[{key}]"
        elif re.fullmatch(r"[\w*/-]+", key):
            spelled += f".{key}" if spelled else key
        else:
            spelled += f"[{shown(key)}]"
    return spelled


def shown(value: Any, written: str | None = None) -> str:
    """Spell a value for a message: short, on one line, numbers as they were written."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = written if written is not None and not isinstance(value, str) else repr(value)
    if isinstance(value, bool):
        text = str(value).lower()
    return text if len(text) <= 60 else f"{text[:57]}..."


def closest(name: str, known: Iterable[str]) -> str | None:
    """Ask "did you mean ...?" of all that are equally near, or return None."""
    known = list(known)
    lowered = {each.lower(): each for each in reversed(known)}
    near = difflib.get_close_matches(name.lower(), lowered, n=MOST_NEAR, cutoff=0.6)
    nearness = {each: _nearness(each, name.lower()) for each in near}
    best = max(nearness.values(), default=None)
    names = [f"'{printable(lowered[each])}'" for each in near if nearness[each] == best]
    return f"did you mean {' or '.join(sorted(names))}?" if names else None


def _nearness(known: str, name: str) -> tuple[float, int]:
    """Rank by what is alike, then by how much of the beginning is."""
    ratio = difflib.SequenceMatcher(None, known, name).ratio()
    alike = (one == other for one, other in zip(known, name, strict=False))
    return ratio, sum(takewhile(bool, alike))


def closest_or_all(name: str, known: Iterable[str]) -> str:
    """Ask "did you mean ...?", or list all there is."""
    known = list(known)
    listed = ", ".join(map(printable, known)) if known else "none"
    return closest(name, known) or f"known here: {listed}"
