"""CANN versions, and what is known to change between them.

Sources: canndev's ONNX plugins, 2020-12 to 2022-06 (CANN 5.0 to 6.0.RC1 by their dates);
the installed toolkit 8.1.RC1, whose plugin binary could not be read; the open ops-nn,
8.5.0 to 9.1.0 and master, which are incomplete: a plugin's absence there proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ascendflow.manifest import opsets

_SPELLING = re.compile(
    r"(\d+)\.(\d+)(?:\.(?:RC|T|alpha|beta)?\d+)*(?:-[\w.]+)?", re.IGNORECASE
)


class Release(NamedTuple):
    """Major and minor number, which is all that changes behaviour here."""

    major: int
    minor: int


FIRST_MODELLED = Release(5, 0)
LAST_READ = Release(*opsets.LAST_READ)
"""The last release whose ONNX plugins were read in source."""
FIRST_OPEN = Release(*opsets.FIRST_OPEN)
"""The first release whose operator repositories are open."""
LAST_MODELLED = Release(9, 1)
LAST_MINOR = {5: 1, 6: 3, 7: 0, 8: 5, 9: 1}
"""Major number -> the last minor number of it that a source knows a release of."""
PACKAGES_OF = {(7, 6): "8.0", (7, 7): "8.1"}
"""Numbers that a toolkit's packages have, which are no releases -> their release."""


@dataclass(frozen=True)
class Profile:
    """What the emulator assumes of one CANN version.

    Attributes:
        version: as the manifest spells it.
        release: its major and minor number.
        opsets: lowest and highest opset that the parser may know.
    """

    version: str
    release: Release
    opsets: tuple[int, int]

    @property
    def is_read(self) -> bool:
        """Whether the release's own plugins were read in canndev (up to 6.0)."""
        return self.release <= LAST_READ

    @property
    def is_open(self) -> bool:
        """Whether the release's operator repositories are open (8.5 on)."""
        return self.release >= FIRST_OPEN


def parse(version: str) -> Release | None:
    """Read "8.1", "8.1.RC1", "6.0.RC1.alpha003" or "8.5.0"; None for anything else."""
    found = _SPELLING.fullmatch(version)
    return Release(int(found[1]), int(found[2])) if found else None


def why_not_modelled(version: str) -> str | None:
    """Return why there is no profile of a CANN `version`, or None."""
    release = parse(version)
    if release is None:
        return f'cann {version!r} is not a version such as "8.1" or "6.0.RC1"'
    if not FIRST_MODELLED <= release <= LAST_MODELLED:
        return (
            f"cann {version!r} is not modelled: the emulator knows "
            f"{_text(FIRST_MODELLED)} to {_text(LAST_MODELLED)}"
        )
    if release.minor > (last := LAST_MINOR[release.major]):
        if release in PACKAGES_OF:
            known = f"packages of CANN {PACKAGES_OF[release]} have that number"
        else:
            known = (
                f"after {release.major}.{last} the next is {release.major + 1}.0; the "
                "packages of a release have numbers of their own"
            )
        listed = ", ".join(
            f"{major}.0" + f" to {major}.{last}" * bool(last)
            for major, last in LAST_MINOR.items()
        )
        return (
            f"cann {version!r} is not modelled: it is no release that is known; {known}; "
            f"known: {listed}"
        )
    return None


def profile(version: str) -> Profile:
    """Return what is assumed of `version`.

    Raises:
        ValueError: `why_not_modelled(version)` says why.
    """
    release = parse(version)
    if release is None or (reason := why_not_modelled(version)) is not None:
        raise ValueError(why_not_modelled(version) if release is None else reason)
    return Profile(version, release, opsets.window(release))


def _text(release: Release) -> str:
    return f"{release.major}.{release.minor}"
