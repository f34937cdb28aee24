"""Which Python and numpy each release of CANN takes.

Sources: the tables of dependencies in CANN's installation guides: ModelZoo's and quick
installation 24.0.RC1 (up to 6.1), 6.2.RC2, 8.0.RC2, 8.0.0, 8.5.0.alpha001, 8.5.0, 9.0.0,
9.1.0.beta1 and 9.1.0. Releases between two that agree are taken to agree. That numpy 2 and
Python 3.13 break the compiler of kernels before 8.5 was reported: it uses `np.float_`,
which numpy 2 removed, and pickles a frame's locals, which 3.13 made a FrameLocalsProxy.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from ascendflow.backends.cann.toolkit_layout import LONGEST
from ascendflow.cann.profile import Release, parse

Version = tuple[int, ...]

FIRST_PYTHON = (3, 7)
PROXY_PYTHON = (3, 13)
"""The first Python with FrameLocalsProxy, which cannot be pickled."""

_PRERELEASE = re.compile(r"alpha|beta", re.IGNORECASE)


@dataclass(frozen=True)
class Needs:
    """What CANN's documents say of one release and those up to the next row.

    Attributes:
        since: the first release of the row.
        last_python: the last Python that is allowed.
        first_numpy: the first numpy.
        below_numpy: the first numpy that is not allowed any more, or None.
        proxy_numpy: the first numpy from Python 3.13 on, without an end; None: as before.
    """

    since: Release
    last_python: Version
    first_numpy: Version
    below_numpy: Version | None
    proxy_numpy: Version | None = None

    def numpy(self, python: Version) -> tuple[Version, Version | None]:
        """Return the first numpy for a Python, and the first one too many or None."""
        if self.proxy_numpy is not None and python >= PROXY_PYTHON:
            return self.proxy_numpy, None
        return self.first_numpy, self.below_numpy

    def numpy_words(self) -> str:
        """Spell which numpy is taken."""
        words = f">={dotted(self.first_numpy)}"
        words += f",<{dotted(self.below_numpy)}" if self.below_numpy else ""
        if self.proxy_numpy is not None:
            words += f"; with Python 3.13 >={dotted(self.proxy_numpy)}"
        return words


ROWS = (
    Needs(Release(5, 0), (3, 9), (1, 14, 3), (2, 0)),
    Needs(Release(6, 2), (3, 10), (1, 19, 2), (2, 0)),
    Needs(Release(8, 0), (3, 11), (1, 19, 2), (1, 25)),
    Needs(Release(8, 5), (3, 13), (1, 19, 2), (2, 0), (2, 1)),
    Needs(Release(9, 0), (3, 13), (1, 19, 2), None),
    Needs(Release(9, 1), (3, 14), (1, 19, 2), None),
)


def needs(version: str | None) -> Needs | None:
    """Return the row of a CANN version; None where it is unknown or before the first.

    An alpha or a beta counts as the release before: 8.5.0.alpha001, 9.0.0.beta1 and
    9.1.0.beta1 have the tables of 8.0, 8.5 and 9.0. What is newer has the last row.
    """
    release = release_of(version)
    if release is None or version is None:
        return None
    early = _PRERELEASE.search(version) is not None
    rows = [
        row for row in ROWS if row.since < release or (row.since == release and not early)
    ]
    return rows[-1] if rows else None


def numpy_spec(row: Needs | None, python: Version) -> str:
    """Spell what a release takes; None: what all do that take this Python."""
    rows = [row] if row else [each for each in ROWS if python[:2] <= each.last_python]
    taken = [each.numpy(python) for each in rows or ROWS[-1:]]
    below = min((end for _, end in taken if end), default=None)
    first = max(start for start, _ in taken)
    return f">={dotted(first)}" + (f",<{dotted(below)}" if below else "")


def pip(executable: str, python: Version, row: Needs | None) -> str:
    """Spell the command that installs; where this one is too new, in an older Python."""
    if row is not None and python[:2] > row.last_python:
        return f"in a Python up to {dotted(row.last_python)}: python3 -m pip"
    return f"{shlex.quote(executable)} -m pip"


def release_of(version: str | None) -> Release | None:
    """Read "8.1.RC1"; None for anything that is no version."""
    return None if version is None or len(version) > LONGEST else parse(version)


def numbers(version: str) -> Version:
    """Read the leading numbers of "3.11.4" or "2.0.0rc1"; () where there are none."""
    found = re.match(r"\d{1,9}(?:\.\d{1,9}){0,5}", version, re.ASCII)
    return tuple(map(int, found[0].split("."))) if found else ()


def dotted(version: Version) -> str:
    """Spell a version."""
    return ".".join(map(str, version))
