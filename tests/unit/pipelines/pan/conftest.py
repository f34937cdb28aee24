"""Imports the pipeline's modules by bare name, as its stages do, and forgets them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[4] / "pipelines" / "pan"
MODULES = {path.stem for path in FOLDER.glob("*.py")}


@pytest.fixture
def pan(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Returns a function from a module's name to the module."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in MODULES & set(sys.modules):
        monkeypatch.delitem(sys.modules, name)

    def load(name: str) -> Any:
        module = importlib.import_module(name)
        for loaded in MODULES & set(sys.modules):
            monkeypatch.setitem(sys.modules, loaded, sys.modules[loaded])
        return module

    return load
