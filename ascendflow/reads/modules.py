"""The files of the modules that were imported, and the names that would shadow them."""

from __future__ import annotations

import os
import sys
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

    The import system opens nothing to find that a name is not in a folder.
    """
    found: set[str] = set()
    for name, file in files.items():
        if "." in name:
            continue
        home = os.path.dirname(file)
        if os.path.basename(file) == "__init__.py":
            home = os.path.dirname(home)
        if home in python_path:
            for earlier in python_path[: python_path.index(home)]:
                found |= {f"{earlier}/{name}.py", f"{earlier}/{name}/__init__.py"}
    return found
