"""Versions of what stages compute with: distributions, files and other interpreters.

Without importlib.metadata, which takes 20 ms to import.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from ascendflow.cache.digest import PREFIX, digest_file
from ascendflow.errors import AscendflowError, ToolNotFoundError
from ascendflow.reads.distributions import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ABSENT = "absent"
FILE = "file:"
"""Begins the name of a tool that is a file, e.g. `file:/usr/local/cann/bin/atc`."""
PYTHON = "python:"
"""Begins the name of another interpreter, e.g. `python:/usr/bin/python3`."""
FOR_PYTORCH = frozenset({"torch", "onnxscript"})
"""What ascendflow's extra `torch` brings."""
_SUFFIX = ".dist-info"
PACKAGES = "packages:"
"""Begins the names of distributions in another interpreter, e.g.
`packages:onnx,onnxruntime:/usr/bin/python3`."""
_ASKED = """
import sys
try:
    import numpy
except ImportError:
    numpy = None
print(sys.version.split()[0], "numpy", getattr(numpy, "__version__", "absent"))
"""
_ASKED_OF_PACKAGES = """
import sys
from importlib import metadata
for name in sys.argv[1].split(","):
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = "absent"
    print(name, found)
"""
_PATIENCE_S = 60


def versions(
    names: Iterable[str],
    *,
    optional: Iterable[str] = (),
    path: Sequence[str] | None = None,
) -> dict[str, str]:
    """Look up the versions of distributions, files and interpreters.

    Args:
        names: as on PyPI, in any spelling; the result is keyed by them as given. What
            begins with `file:` is a file, whose version is its digest; with `python:` an
            interpreter, whose version is its own and its numpy's; with `packages:` what
            is installed for one.
        optional: more names, whose version is "absent" where they are not installed.
        path: folders to look in, the first one wins; default `sys.path`.

    Raises:
        ToolNotFoundError: one of `names` is not installed.
        AscendflowError: one folder holds two versions of it, so which one would be
            imported is unknown.
    """
    folders = tuple(sys.path if path is None else path)
    names, optional = tuple(names), tuple(optional)
    others = {
        name: look(name.removeprefix(kind))
        for kind, look in (
            (FILE, _digest),
            (PYTHON, _interpreter),
            (PACKAGES, _packages),
        )
        for name in {*names, *optional}
        if name.startswith(kind)
    }
    found = {name: _version(name, folders) for name in names if name not in others}
    if absent := sorted(name for name, version in found.items() if version is None):
        raise ToolNotFoundError(
            f"tools: not installed for {sys.executable}: {', '.join(absent)}",
            hint=_cure(absent),
        )
    known = {name: version for name, version in found.items() if version is not None}
    known |= {
        name: _version(name, folders) or ABSENT for name in optional if name not in others
    }
    return known | others


def _cure(absent: Sequence[str]) -> str:
    """Say how to install them in the versions that this ascendflow is for."""
    extra = "[torch]" if FOR_PYTORCH.issuperset(absent) else ""
    return (
        f"install ascendflow{extra} again, as it was installed into this Python: pip"
        f" install '/path/to/ascendflow{extra}' -c /path/to/ascendflow/requirements.lock"
    )


def _digest(path: str) -> str:
    try:
        return digest_file(path).removeprefix(PREFIX)
    except OSError:
        return ABSENT


def _interpreter(path: str) -> str:
    return _answer(path, _ASKED)


def _packages(named: str) -> str:
    names, _, path = named.partition(":")
    return " ".join(_answer(path, _ASKED_OF_PACKAGES, names).split())


@cache
def _answer(path: str, *asked: str) -> str:
    """Ask a Python; once per process, since it takes a tenth of a second."""
    import subprocess

    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    try:
        done = subprocess.run(
            [path, "-c", *asked],
            cwd="/",
            env={**kept, "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            text=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ABSENT
    return done.stdout.strip()


@cache
def _version(name: str, folders: tuple[str, ...]) -> str | None:
    for folder in folders:
        installed = _installed(folder or os.curdir).get(normalised(name))
        if installed is None:
            continue
        if len(installed) > 1:
            raise AscendflowError(
                f"tools: {folder} holds {' and '.join(installed)} of {name}",
                hint=f"remove one: {sys.executable} -m pip uninstall {name}, then install"
                " it again",
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
