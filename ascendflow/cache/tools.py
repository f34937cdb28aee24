"""Versions of installed distributions, without importlib.metadata (20 ms to import)."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from ascendflow.errors import AscendflowError, ToolNotFoundError
from ascendflow.reads.distributions import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ABSENT = "absent"
_SUFFIX = ".dist-info"


def versions(
    names: Iterable[str],
    *,
    optional: Iterable[str] = (),
    path: Sequence[str] | None = None,
) -> dict[str, str]:
    """Look up the installed versions of distributions.

    Args:
        names: as on PyPI, in any spelling; the result is keyed by them as given.
        optional: more names, whose version is "absent" where they are not installed.
        path: folders to look in, the first one wins; default `sys.path`.

    Raises:
        ToolNotFoundError: one of `names` is not installed.
        AscendflowError: one folder holds two versions of it, so which one would be
            imported is unknown.
    """
    folders = tuple(sys.path if path is None else path)
    found = {name: _version(name, folders) for name in names}
    if absent := sorted(name for name, version in found.items() if version is None):
        raise ToolNotFoundError(
            f"tools: {', '.join(absent)} is not installed for {sys.executable}",
            hint=f"./run pip install {' '.join(absent)}",
        )
    known = {name: version for name, version in found.items() if version is not None}
    return known | {name: _version(name, folders) or ABSENT for name in optional}


@cache
def _version(name: str, folders: tuple[str, ...]) -> str | None:
    for folder in folders:
        installed = _installed(folder or os.curdir).get(normalised(name))
        if installed is None:
            continue
        if len(installed) > 1:
            raise AscendflowError(
                f"tools: {folder} holds {' and '.join(installed)} of {name}",
                hint=f"reinstall it: ./run pip install --force-reinstall {name}",
            )
        return installed[0]
    return None


@cache
def _installed(folder: str) -> Mapping[str, list[str]]:
    """List one folder, once per process."""
    found: dict[str, list[str]] = {}
    try:
        entries = [entry for entry in os.listdir(folder) if entry.endswith(_SUFFIX)]
    except OSError:  # a zip file, or a folder that is not there
        return found
    for entry in sorted(entries):
        if not entry.startswith("~"):  # pip's leftovers
            name, _, version = entry.removesuffix(_SUFFIX).rpartition("-")
            found.setdefault(normalised(name), []).append(version)
    return found
