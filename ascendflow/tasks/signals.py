"""Ctrl-C, SIGTERM and the like: end the children, exit with 130, without a traceback.

And the workers of `doit -P process` end with the main process, however that ended: else
they would go on, and hold its locks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_lifelines: list[int] = []
"""Write ends of the pipe whose closing ends the workers; in a worker, none."""


def install() -> None:
    """Handle the signals that end a run; call it from the main thread."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    read_end, write_end = os.pipe()
    _lifelines.append(write_end)
    # Not `multiprocessing.parent_process()`: a worker's siblings keep its pipe open.
    os.register_at_fork(after_in_child=lambda: _end_with_main(read_end))


def _end_with_main(read_end: int) -> None:
    """In a worker: end when the pipe closes, whose other end only the main process has."""

    def wait() -> None:
        os.read(read_end, 1)
        # Not by the children's lifelines alone: an interrupt may have ended their watchers,
        # and be half-way through what left their groups.
        _end_children()
        os._exit(INTERRUPTED)

    _close_lifelines()
    threading.Thread(target=wait, daemon=True).start()


def _close_lifelines() -> None:
    while _lifelines:
        os.close(_lifelines.pop())


def _end_children() -> None:
    if (process := sys.modules.get("ascendflow.process")) is not None:  # it has children
        process.end_all()


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    from multiprocessing import parent_process

    is_worker = parent_process() is not None
    if is_worker:  # doit tells it once more: on its way out that would be a traceback
        for each in SIGNALS:
            signal.signal(each, lambda *_: None)  # SIG_IGN: one on its way is an error
    _end_children()
    if not is_worker:  # workers are told as well, and need not say so again
        name = signal.Signals(number).name
        sys.stderr.write(f"interrupted by {name}; what was built is kept\n")
    # doit ends its workers only if it gets to know; else it would wait for them for ever.
    _close_lifelines()
    # Not KeyboardInterrupt: doit would print its traceback.
    raise SystemExit(INTERRUPTED)
