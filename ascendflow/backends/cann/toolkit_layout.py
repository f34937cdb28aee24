"""Where an installed CANN keeps what, and which release its files say that it is.

Paths are plain text and files are read by whoever asks, so the same holds of this machine,
of a board, and of a machine that is only looked at. Sources: msprobe's `offline/compare`
(atc), an installed 8.1.RC1 (version files, scripts), the runtime's documents of 8.5.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.cann.profile import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Entries = Callable[[str], Mapping[str, str]]
    """Reads a file's lines of `key=value`; nothing where it cannot be read."""

ATC = ("compiler/bin/atc", "atc/bin/atc", "bin/atc")
PACKAGES = ("compiler", "opp", "runtime", "toolkit")
PLATFORMS = (
    "compiler/data/platform_config",
    "data/platform_config",
    "{arch}-linux/data/platform_config",
    "atc/data/platform_config",
)
"""Where a toolkit keeps one .ini for each SoC that its atc takes, named as it."""
LONGEST = 64
"""Characters of a release; what is longer is none."""
_RUNNING = re.compile(r"\[[^:\]]*:([^\]]+)\]")


def atcs(root: str) -> tuple[str, ...]:
    """Name where atc may lie."""
    return tuple(f"{root}/{place}" for place in ATC)


def set_envs(root: str, arch: str | None) -> tuple[str, ...]:
    """Name where set_env.sh may lie."""
    around = root.rstrip("/").rpartition("/")[0]
    script = () if arch is None else (f"{root}/{arch}-linux/script/set_env.sh",)
    # 8.x: ascend-toolkit/set_env.sh beside latest/.
    return (f"{root}/set_env.sh", f"{around}/set_env.sh", *script)


def platforms(root: str, arch: str | None) -> tuple[str, ...]:
    """Name the folders that may hold a file for each SoC."""
    return tuple(f"{root}/{place.format(arch=arch)}" for place in PLATFORMS)


def _install_info(root: str, arch: str | None) -> str:
    """Name the file of the whole toolkit's release."""
    return f"{root}/{arch}-linux/ascend_toolkit_install.info"


def version_info(root: str, package: str) -> str:
    """Name the file of one package's version and release."""
    return f"{root}/{package}/version.info"


def _version_cfg(root: str) -> str:
    """Name the file that lists the packages."""
    return f"{root}/version.cfg"


def version_files(root: str, arch: str | None) -> tuple[str, ...]:
    """Name every file that says a version."""
    infos = (version_info(root, package) for package in PACKAGES)
    return (*infos, _version_cfg(root), _install_info(root, arch))


def release(root: str, arch: str | None, entries: Entries) -> str | None:
    """Return which release a toolkit is of, e.g. "8.1.RC1", or None.

    Where packages differ it is the compiler's that counts.
    """
    whole = _plausible(entries(_install_info(root, arch)).get("version", ""))
    if whole is not None:
        return whole
    packages = dict(releases(root, entries))
    return packages.get("compiler") or packages.get("toolkit")


def releases(root: str, entries: Entries) -> Iterator[tuple[str, str]]:
    """Yield which release each package is of, by its own file, else by version.cfg."""
    running = entries(_version_cfg(root))
    for package in PACKAGES:
        own = entries(version_info(root, package)).get("version_dir", "")
        listed = _RUNNING.fullmatch(running.get(f"{package}_running_version", ""))
        if found := _plausible(own) or _plausible(listed[1] if listed else ""):
            yield package, found


def _plausible(text: str) -> str | None:
    """Return a release that is one, its marks of quotation gone."""
    text = text.strip("\"' ")
    return text if len(text) <= LONGEST and parse(text) is not None else None
