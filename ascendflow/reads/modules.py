"""The files of the modules that were imported, and the names that would shadow them."""

from __future__ import annotations

import os
import sys
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def module_files() -> dict[str, str]:
    """Return module name -> its file (the source, or what there is); not `__main__`."""
    files = {}
    for name, module in list(sys.modules.items()):
        if name == "__main__" or not isinstance(module, ModuleType):
            continue
        file = module.__dict__.get("__file__")  # lazy modules answer getattr with an import
        if isinstance(file, str):
            files[name] = os.path.abspath(file)
    return files


def shadows(files: dict[str, str], python_path: Sequence[str]) -> set[str]:
    """Return the paths where a new file would take the place of an imported user module.

    In one folder a package goes before an extension module, and that before a source. The
    import system opens nothing to find that a name is not in a folder.

    Args:
        files: module name -> its file, of user modules.
        python_path: the folders that user modules are imported from, first come first.
    """
    found: set[str] = set()
    for name, file in files.items():
        home, last = os.path.dirname(file), name.rpartition(".")[2]
        if os.path.basename(file).partition(".")[0] == "__init__":
            home = os.path.dirname(home)
        here = _candidates(home, last)
        if file in here:
            found |= set(here[: here.index(file)])
        if "." not in name and home in python_path:
            for earlier in python_path[: python_path.index(home)]:
                found |= set(_candidates(earlier, last))
    return found


def _candidates(folder: str, name: str) -> list[str]:
    """List what the import system would look for in a folder, first come first.

    Source: CPython's `importlib/_bootstrap_external.py`, FileFinder.find_spec.
    """
    suffixes = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES, *BYTECODE_SUFFIXES)
    packages = [f"{folder}/{name}/__init__{suffix}" for suffix in suffixes]
    return [*packages, *(f"{folder}/{name}{suffix}" for suffix in suffixes)]
