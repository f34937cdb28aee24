"""What every test may use, and the one thing that none may: the network."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parent.parent

# No deadline: a busy machine is not a bug. Derandomized: a red build is red twice.
settings.register_profile("ascendflow", deadline=None, derandomize=True)
settings.load_profile("ascendflow")
# Nor are examples drawn from the constants of whatever modules other tests imported first.
providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files with slow tests go first: quick ones fill what is left on every core."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of this checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared material (public cases and models), or skip."""
    named = os.environ.get("ASCENDFLOW_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip(
            f"no shared material: {folder} is not there; ASCENDFLOW_SHARED names it"
        )
    return folder


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection but those inside this machine's file system."""

    def refuse(method: str) -> Any:
        allowed = getattr(socket.socket, method)

        def guarded(self: socket.socket, *arguments: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                raise AssertionError(f"a test reached for the network: {method}{arguments}")
            return allowed(self, *arguments)

        return guarded

    def refuse_lookup(host: object, *_: Any, **__: Any) -> Any:
        raise AssertionError(f"a test reached for the network: looked up {host!r}")

    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex", "sendto", "bind"):
            patch.setattr(socket.socket, method, refuse(method))
        patch.setattr(socket, "getaddrinfo", refuse_lookup)
        yield
