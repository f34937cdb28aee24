"""Seeds for the random generators that a stage or its user may draw from.

numpy's and torch's are seeded as they are imported: a stage that needs neither does not
pay for them.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def seed_all(seed: int) -> None:
    """Seed python's generator now, numpy's and torch's on import.

    Args:
        seed: any integer; numpy gets it modulo 2**32, its largest.
    """
    random.seed(seed)
    seeders: dict[str, Callable[[ModuleType], None]] = {
        "numpy.random": lambda module: module.seed(seed % 2**32),
        "torch": lambda module: _ignore(module.manual_seed(seed)),
    }
    for name in list(seeders):
        if name in sys.modules:
            seeders.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _AfterImport(seeders))


def _ignore(_: object) -> None:
    pass


class _AfterImport:
    """A finder that calls a function once its module has been executed."""

    def __init__(self, actions: dict[str, Callable[[ModuleType], None]]) -> None:
        self._actions = actions

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._actions:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                action = self._actions.pop(name)
                spec.loader = _Then(spec.loader, action)  # type: ignore[assignment]
                return spec
        return None


class _Then:
    """A loader that is another one, and then some; the module never sees it."""

    def __init__(self, loader: Loader, action: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._action(module)
