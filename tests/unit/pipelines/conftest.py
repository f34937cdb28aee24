"""Imports a pipeline's modules by bare name, as its stages do, and forgets them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PIPELINES = Path(__file__).parents[3] / "pipelines"


@pytest.fixture
def pan(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Returns a function from a module's name to the module."""
    return _loader(PIPELINES / "pan", monkeypatch)


@pytest.fixture
def arcface(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Returns a function from a module's name to the module."""
    return _loader(PIPELINES / "arcface", monkeypatch)


def _loader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    modules = {path.stem for path in folder.glob("*.py")}
    monkeypatch.syspath_prepend(str(folder))
    for name in modules & set(sys.modules):
        monkeypatch.delitem(sys.modules, name)

    def load(name: str) -> Any:
        module = importlib.import_module(name)
        for loaded in modules & set(sys.modules):
            monkeypatch.setitem(sys.modules, loaded, sys.modules[loaded])
        return module

    return load
