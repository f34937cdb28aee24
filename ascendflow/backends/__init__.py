"""The backends, each loaded only when a manifest names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendflow.backends.backend import Backend

BACKENDS = (
    ("emulator", "ascendflow.backends.emulator.backend:Emulator"),
    ("cann", "ascendflow.backends.cann.backend:Cann"),
)
"""Ordered (name, "module:Class"); chosen by the manifest, never by what is installed."""


def load_backend(name: str) -> Backend:
    """Import one backend and make it.

    Raises:
        KeyError: `name` is no backend.
    """
    from importlib import import_module

    module, _, class_name = dict(BACKENDS)[name].partition(":")
    backend: Backend = getattr(import_module(module), class_name)()
    return backend
