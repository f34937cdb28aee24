"""Finds what a build needs in an installed CANN, and says which version it is.

Sources: msprobe's `offline/compare` (atc) and an installed 8.1.RC1
(version files). Nothing is run here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.errors import StageError, ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

ATC = ("compiler/bin/atc", "atc/bin/atc", "bin/atc")
PACKAGES = ("compiler", "opp", "runtime")
PLATFORMS = (
    "compiler/data/platform_config",
    "data/platform_config",
    "{arch}-linux/data/platform_config",
    "atc/data/platform_config",
)
"""Where a toolkit keeps one .ini for each SoC that its atc takes, named as it."""
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


def find_toolkit(root: Path, arch: str) -> Toolkit:
    """Look a toolkit over.

    Raises:
        ToolNotFoundError: there is no atc, or no set_env.sh.
        StageError: its version cannot be told.
    """
    atc = _first(root, [root / place for place in ATC], "atc")
    set_env = _first(root, list(set_envs(root, arch)), "set_env.sh")
    version, versions = installed_versions(root, arch, str(root))
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
    version = _version(root, arch)
    if version is None:
        raise StageError(
            f"{name}: the version of CANN cannot be told",
            hint="no version file is there; reinstall the toolkit",
        )
    versions = {
        package: found
        for package in PACKAGES
        if (found := _entries(root / package / "version.info").get("Version"))
    }
    return version, versions


def _all_versions(root: Path) -> frozenset[str]:
    """Read each package's version: from 8.5 on the compiler is more than one package."""
    places = ("version.info", "*/version.info", "share/info/*/version.info")
    files = (_entries(file) for place in places for file in root.glob(place))
    return frozenset(found["Version"] for found in files if found.get("Version"))


def _socs(root: Path, arch: str) -> tuple[str, ...]:
    folders = (root / place.format(arch=arch) for place in PLATFORMS)
    return tuple(sorted({file.stem for each in folders for file in each.glob("*.ini")}))


def key_files(toolkit: str, arch: str) -> tuple[str, ...]:
    """Name the files whose bytes tell one installation from another, there or not."""
    root = Path(toolkit)
    files = [
        *(root / place for place in ATC),
        *(root / f"{place}.bin" for place in ATC),
        *set_envs(root, arch),
        *(root / package / "version.info" for package in PACKAGES),
        root / "version.cfg",
        root / f"{arch}-linux/ascend_toolkit_install.info",
    ]
    return tuple(map(str, files))


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


def _first(root: Path, places: list[Path], what: str) -> Path:
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        looked = ", ".join(map(str, places))
        hint = f"give convert.toolkit the folder of a CANN; looked for {looked}"
        raise ToolNotFoundError(f"{root}: holds no {what}", hint=hint)
    return found


def set_envs(root: Path, arch: str) -> Iterator[Path]:
    """Yield where set_env.sh may lie."""
    yield root / "set_env.sh"
    yield root.parent / "set_env.sh"  # 8.x: ascend-toolkit/set_env.sh beside latest/
    yield root / f"{arch}-linux/script/set_env.sh"


def _version(root: Path, arch: str) -> str | None:
    installed = _entries(root / f"{arch}-linux/ascend_toolkit_install.info")
    compiler = _entries(root / "compiler/version.info")
    running = _entries(root / "version.cfg").get("toolkit_running_version", "")
    listed = re.fullmatch(r"\[[^:\]]*:([^\]]+)\]", running)
    named = installed.get("version") or compiler.get("version_dir")
    return named or (listed[1] if listed else None)


def _entries(file: Path) -> dict[str, str]:
    """Read lines of `key=value`; none where the file cannot be read."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            lines = stream.read(LARGEST).splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}
