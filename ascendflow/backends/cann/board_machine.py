"""What a board is, by what the worker saw there: its CANN, and how to run in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann import environment, toolkit, toolkit_layout
from ascendflow.backends.cann.fits_device import There
from ascendflow.backends.cann.set_env import read_set_env
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHS = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Machine:
    """A board.

    Attributes:
        there: its machine, and the versions of its CANN.
        toolkit: where it is installed.
        seen: what the worker saw.
        set_env: the path of its set_env.sh.
    """

    there: There
    toolkit: str
    seen: Mapping[str, Any]
    set_env: str

    def environment(self, python: str) -> dict[str, str]:
        """Build the environment that the OM is run in there."""
        found = self.seen["files"][self.set_env]
        exported = read_set_env(
            found["text"],
            file=self.set_env,
            folder=str(PurePosixPath(found["real"]).parent),
            arch=self.there.arch,
            has_driver=bool(self.seen["drivers"]),
        )
        return environment.environment(
            exported,
            python=python,
            toolkit=self.toolkit,
            arch=self.there.arch,
            has_driver=bool(self.seen["drivers"]),
            work=self.seen["folder"],
            around=self.seen["environment"],
        )


def questions(root: str) -> dict[str, Any]:
    """Say what to look for on a board."""
    files = {
        file
        for arch in ARCHS
        for file in toolkit.key_files(root, arch)
        if PurePosixPath(file).parent.name != "bin"
    }
    below = (toolkit.DRIVER / each for each in ("", "common", "driver"))
    return {
        "files": sorted(files),
        "drivers": [str(folder / toolkit.DRIVER_LIBRARY) for folder in below],
        "kept": list(environment.KEPT),
    }


def machine_of(seen: Mapping[str, Any], root: str, folder: Path) -> Machine:
    """Read what was seen as one would read an installation here.

    Args:
        seen: the worker's answer to `questions`.
        root: `infer.toolkit`.
        folder: where its version files are laid down to be read.

    Raises:
        StageError: there is no CANN, or its version cannot be told.
    """
    asked, arch = set(questions(root)["files"]), str(seen["arch"])
    for path, found in seen["files"].items():
        if path in asked:
            copy = folder / path.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(found["text"], encoding="utf-8")
    places = toolkit_layout.set_envs(root, arch)
    set_env = next((place for place in places if place in seen["files"]), None)
    if set_env is None:
        raise StageError(
            f"infer.toolkit: {root} on the board holds no set_env.sh",
            hint=f"looked for {', '.join(places)}",
        )
    here = folder / root.lstrip("/")
    cann, versions = toolkit.installed_versions(here, arch, f"{root} on the board")
    return Machine(There(cann, versions, arch), root, seen, set_env)
