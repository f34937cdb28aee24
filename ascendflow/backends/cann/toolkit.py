"""Finds what a build needs in an installed CANN, and says which version it is.

Where things lie says `toolkit_layout`. Nothing is run here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.backends.cann import toolkit_layout as layout
from ascendflow.errors import StageError, ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

IN_THE_OM = ("compiler", "opp", "runtime")
"""Packages whose versions an OM names, or depends on when it runs."""
DRIVER = Path("/usr/local/Ascend/driver/lib64")
DRIVER_INFO = Path("/etc/ascend_install.info")
DRIVER_LIBRARY = "libascend_hal.so"
LARGEST = 1 << 20


@dataclass(frozen=True)
class Toolkit:
    """An installed CANN.

    Attributes:
        root: its folder, as the manifest names it.
        arch: the machine it is for: x86_64 or aarch64.
        atc: the command.
        set_env: the script that makes its environment.
        version: "8.1.RC1".
        versions: package -> its own version, e.g. opp -> "7.7.0.1.238".
        all_versions: of every package that says one, those of `versions` included.
        socs: what its atc takes as `--soc_version`; empty where no list is there.
    """

    root: Path
    arch: str
    atc: Path
    set_env: Path
    version: str
    versions: dict[str, str]
    all_versions: frozenset[str] = frozenset()
    socs: tuple[str, ...] = ()


def find_toolkit(root: Path, arch: str, key: str = "convert.toolkit") -> Toolkit:
    """Look a toolkit over.

    Args:
        root: its folder.
        arch: the machine that it is to run on.
        key: what names it in the manifest.

    Raises:
        ToolNotFoundError: there is no atc, or no set_env.sh.
        StageError: its version cannot be told.
    """
    atc = _first(root, layout.atcs(str(root)), key, "atc")
    set_env = _first(root, layout.set_envs(str(root), arch), key, "set_env.sh")
    version, versions = installed_versions(root, arch, f"{key}: {root}")
    everything, socs = _all_versions(root), _socs(root, arch)
    return Toolkit(root, arch, atc, set_env, version, versions, everything, socs)


def installed_versions(root: Path, arch: str, name: str) -> tuple[str, dict[str, str]]:
    """Return CANN's version and those of its packages.

    Args:
        root: where its version files lie.
        arch: the machine that it is for.
        name: what it is called in messages.

    Raises:
        StageError: its version cannot be told.
    """
    version = layout.release(str(root), arch, _entries)
    if version is None:
        raise StageError(
            f"{name}: the version of CANN cannot be told",
            hint="no version file is there; reinstall the toolkit",
        )
    versions = {
        package: found
        for package in IN_THE_OM
        if (found := _entries(layout.version_info(str(root), package)).get("Version"))
    }
    return version, versions


def _all_versions(root: Path) -> frozenset[str]:
    """Read each package's version: from 8.5 on the compiler is more than one package."""
    places = ("version.info", "*/version.info", "share/info/*/version.info")
    files = (_entries(file) for place in places for file in root.glob(place))
    return frozenset(found["Version"] for found in files if found.get("Version"))


def _socs(root: Path, arch: str) -> tuple[str, ...]:
    folders = map(Path, layout.platforms(str(root), arch))
    return tuple(sorted({file.stem for each in folders for file in each.glob("*.ini")}))


def key_files(toolkit: str, arch: str) -> tuple[str, ...]:
    """Name the files whose bytes tell one installation from another, there or not."""
    atcs = layout.atcs(toolkit)
    return (
        *atcs,
        *(f"{atc}.bin" for atc in atcs),
        *layout.set_envs(toolkit, arch),
        *layout.version_files(toolkit, arch),
    )


def is_release(asked: str, installed: str) -> bool:
    """Whether an installed version is one that a manifest asks for: "8.1" has "8.1.RC1"."""
    wanted, there = (text.lower().split(".") for text in (asked, installed))
    return there[: len(wanted)] == wanted


def has_driver(default: Path = DRIVER, info: Path = DRIVER_INFO) -> bool:
    """Whether the Ascend driver's library is installed on this machine."""
    folders = [default]
    if said := _entries(info).get("Driver_Install_Path_Param"):
        folders.append(Path(said) / "driver/lib64")
    return any(
        (folder / below / DRIVER_LIBRARY).exists()
        for folder in folders
        for below in ("", "common", "driver")
    )


def _first(root: Path, places: Sequence[str], key: str, what: str) -> Path:
    # Not `Path.is_file`: a folder that one may not look into is an error there.
    found = next((place for place in places if os.path.isfile(place)), None)
    if found is None:
        hint = (
            "name the folder of a CANN; `ascendflow doctor --toolkit FOLDER --python "
            f"PYTHON3` examines one; looked for {', '.join(places)}"
        )
        raise ToolNotFoundError(f"{key}: {root} holds no {what}", hint=hint)
    return Path(found)


def _entries(file: str | Path) -> dict[str, str]:
    """Read lines of `key=value`; none where the file cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            lines = stream.read(LARGEST).splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}
