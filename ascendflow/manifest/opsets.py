"""The opsets that the parser of a CANN release knows.

Sources: the plugins up to 6.0.RC1 register opsets 8 to 15; the open operator repositories,
8.5.0 to master, 8 to 18. Where between 15 and 18 the releases in between end is not known.
"""

from __future__ import annotations

import re

LAST_READ = (6, 0)
"""The last release whose ONNX plugins were read in source."""
FIRST_OPEN = (8, 5)
"""The first release whose operator repositories are open."""
LOWEST, SURE, HIGHEST = 8, 15, 18
"""Of all releases; of those up to 6.0, which every later one knows too; of any release."""

AGAIN = (
    f"export again with opset {SURE}, which every release parses (or {HIGHEST} for CANN "
    f"{FIRST_OPEN[0]}.{FIRST_OPEN[1]} and later; which of those between them earlier "
    "releases parse is not known)"
)
"""What to do about a model outside of the window."""


def release_of(cann: str) -> tuple[int, int] | None:
    """Return (8, 1) of "8.1.RC1", or None where it is no version."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})(\.|$)", cann, re.ASCII)
    return (int(match[1]), int(match[2])) if match else None


def window(release: tuple[int, int]) -> tuple[int, int]:
    """Return the lowest and the highest opset that `release`, (8, 1) for 8.1, may know."""
    return LOWEST, SURE if release <= LAST_READ else HIGHEST


def highest_sure(release: tuple[int, int]) -> int:
    """Return the highest opset that `release` is known to know."""
    return HIGHEST if release >= FIRST_OPEN else SURE
