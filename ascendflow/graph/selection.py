"""Which nodes of its types a rule may touch."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Selection:
    """Which nodes a rule may touch: all, or those that one of `patterns` names.

    Attributes:
        patterns: node names, or globs of them; None selects every node.
    """

    patterns: tuple[str, ...] | None = None

    def includes(self, name: str) -> bool:
        """Return whether a node called `name` is selected."""
        return self.patterns is None or any(matches(name, p) for p in self.patterns)


EVERYTHING = Selection()


def matches(name: str, pattern: str) -> bool:
    """Return whether `pattern` is `name`, or a glob that matches it.

    Equality comes first, since names from exporters may hold `[` and `]`.
    """
    return name == pattern or fnmatchcase(name, pattern)
