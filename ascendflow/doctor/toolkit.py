"""Finds an installed CANN and reads what its own files say of it; runs nothing.

Sources: the runtime's `resolve_cann_env.sh` and the installation guides (folders). What
lies where in them says `backends.cann.toolkit_layout`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ascendflow.backends.cann import toolkit_layout as layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.doctor.machine import Machine

OPTION = "--toolkit"
VARIABLES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_INSTALL_PATH")
USUAL = "usual folder"
FOLDERS = (
    "~/Ascend/cann",
    "~/Ascend/ascend-toolkit/latest",
    "usr/local/Ascend/cann",
    "usr/local/Ascend/ascend-toolkit/latest",
    "opt/Ascend/cann",
    "opt/Ascend/ascend-toolkit/latest",
)
"""Where CANN is installed unless told otherwise: below `~`, the user's home, or below /."""

ARCHES = ("x86_64", "aarch64")
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/config"


@dataclass(frozen=True)
class Toolkit:
    """A CANN, as far as its files tell.

    Attributes:
        root: its folder.
        found_by: the option or variable that named it, or `USUAL`.
        version: "8.1.RC1", or None.
        arch: the machine it is for, or None.
        packages: package -> the release it is of, e.g. opp -> "8.1.RC1".
        atc: the command that may be run, or None.
        set_env: the script that can be read, or None.
        kernels: the chips that there are kernels for.
        socs: every `--soc_version` that its atc takes; empty where that is not told.
        unusable: atc and set_env.sh that are there and cannot be run or read.
    """

    root: str
    found_by: str
    version: str | None = None
    arch: str | None = None
    packages: dict[str, str] = field(default_factory=dict)
    atc: str | None = None
    set_env: str | None = None
    kernels: tuple[str, ...] = ()
    socs: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Search:
    """How a toolkit was looked for.

    Attributes:
        toolkit: the first that is a toolkit, or None.
        named: (option or variable, folder) that was named.
        wrong: those of them that are no toolkit.
        looked: every folder that was looked at.
    """

    toolkit: Toolkit | None
    named: tuple[tuple[str, str], ...]
    wrong: tuple[tuple[str, str], ...]
    looked: tuple[str, ...]


def find_toolkit(machine: Machine, asked: str) -> Search:
    """Look for a toolkit where the user says it is, then where it usually is.

    Args:
        machine: where to look.
        asked: the folder that `--toolkit` names, or ""; then nothing else is looked at.
    """
    named = tuple(_named(machine, asked))
    usual = () if asked else tuple((USUAL, each) for each in _usual(machine))
    wrong: list[tuple[str, str]] = []
    for found_by, folder in (*named, *usual):
        root = _root(machine, folder)
        if root is not None:
            toolkit = _read(machine, root, found_by)
            return Search(toolkit, named, tuple(wrong), (folder,))
        if found_by != USUAL:
            wrong.append((found_by, folder))
    looked = dict.fromkeys(folder for _, folder in (*named, *usual))
    return Search(None, named, tuple(wrong), tuple(looked))


def _named(machine: Machine, asked: str) -> Iterator[tuple[str, str]]:
    if asked:
        yield OPTION, machine.absolute(asked)
        return
    for variable in VARIABLES:
        if value := machine.environment.get(variable, ""):
            yield variable, machine.absolute(value)


def _usual(machine: Machine) -> Iterator[str]:
    home = machine.environment.get("HOME", "")
    for folder in FOLDERS:
        if not folder.startswith("~"):
            yield f"/{folder}"
        elif home.startswith("/"):
            yield home.rstrip("/") + folder.removeprefix("~")


def _root(machine: Machine, folder: str) -> str | None:
    """Return the toolkit that a folder is, or holds as `cann` or `latest`; or None.

    A broken one is one too. A script alone may be that of the folder around a toolkit.
    """
    roots = [folder + each for each in ("", "/cann", "/latest", "/ascend-toolkit/latest")]
    for signs in (_signs, lambda root: [f"{root}/set_env.sh"]):
        for root in roots:
            if any(os.path.lexists(machine.at(sign)) for sign in signs(root)):
                return root
    return None


def _signs(root: str) -> list[str]:
    versions = [file for arch in ARCHES for file in layout.version_files(root, arch)]
    return [*layout.atcs(root), *versions]


def _read(machine: Machine, root: str, found_by: str) -> Toolkit:
    arch = _arch(machine, root)
    places = layout.atcs(root)
    scripts = layout.set_envs(root, arch)
    atc = next((place for place in places if machine.is_program(place)), None)
    script = next((each for each in scripts if machine.read(each) is not None), None)
    broken = [
        place
        for place in [*([] if atc else places), *([] if script else scripts)]
        if os.path.lexists(machine.at(place))
    ]
    return Toolkit(
        root=root,
        found_by=found_by,
        version=layout.release(root, arch, machine.entries),
        arch=arch,
        packages=dict(layout.releases(root, machine.entries)),
        atc=atc,
        set_env=script,
        kernels=tuple(_kernels(machine, root)),
        socs=tuple(sorted(set(_socs(machine, root, arch)))),
        unusable=tuple(broken),
    )


def _arch(machine: Machine, root: str) -> str | None:
    """Return the machine that a toolkit is for; this one, where it is for both."""
    there = [arch for arch in ARCHES if machine.is_folder(f"{root}/{arch}-linux")]
    if machine.arch in there:
        return machine.arch
    said = machine.entries(f"{root}/opp/scene.info").get("arch")
    return next(iter(there), said if said in ARCHES else None)


def _kernels(machine: Machine, root: str) -> Iterator[str]:
    folder = f"{root}/{_KERNELS}"
    for name in machine.names(folder):
        if len(name) <= layout.LONGEST and machine.is_folder(f"{folder}/{name}"):
            yield name


def _socs(machine: Machine, root: str, arch: str | None) -> Iterator[str]:
    for folder in layout.platforms(root, arch):
        for name in machine.names(folder):
            soc, suffix = os.path.splitext(name)
            if suffix == ".ini" and len(soc) <= layout.LONGEST:
                yield soc
