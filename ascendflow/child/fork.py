"""Forking a process that stays out of the way of whoever runs next."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def run_apart(body: Callable[[], None]) -> None:
    """Run `body` in a process of the same group that is not a child of this one.

    It is forked twice, so that user code that waits for any child (`os.wait()`) does not
    wait for it. Call it before threads exist and before anything heavy is imported.

    Args:
        body: what to do there; the process ends when it returns or raises.
    """
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    try:
        if os.fork() == 0:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            body()
    finally:
        os._exit(0)
