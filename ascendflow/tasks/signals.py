"""Ctrl-C, SIGTERM and the like: end the children, exit with 130, without a traceback.

And the workers of `doit -P process` end with the main process, however that ended: else
they would go on, and hold its locks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType, TracebackType

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_lifelines: list[int] = []
"""Write ends of the pipe whose closing ends the workers; in a worker, none."""


def tell(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Tell what nobody handled, for `sys.excepthook`: an interrupt without its traceback.

    Python then dies of it. So it is until a run installs its own handler, and in commands
    that run nothing.
    """
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("interrupted by SIGINT\n")
    else:
        sys.__excepthook__(kind, error, traceback)


def install() -> None:
    """Handle the signals that end a run; call it from the main thread."""
    for number in SIGNALS:
        signal.signal(number, partial(_interrupt, os.getpid()))
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
        _end_all()
        os._exit(INTERRUPTED)

    _close_lifelines()
    threading.Thread(target=wait, daemon=True).start()


def _close_lifelines() -> None:
    while _lifelines:
        os.close(_lifelines.pop())


def _end_all() -> None:
    for name in ("ascendflow.process", "ascendflow.cache.incoming"):
        module = sys.modules.get(name)  # not there: there are none
        if (
            end_all := getattr(module, "end_all", None)
        ) is not None:  # nor while it is loaded
            end_all()


def _interrupt(main: int, number: int, frame: FrameType | None) -> NoReturn:
    del frame
    from multiprocessing import parent_process

    is_worker = os.getpid() != main
    if is_worker and parent_process() is None:  # just forked: what is raised would be lost
        os._exit(INTERRUPTED)
    for each in SIGNALS:  # told once more, on its way out, that would be a traceback
        signal.signal(each, lambda *_: None)  # SIG_IGN: one on its way is an error
    _end_all()
    if not is_worker:  # workers are told as well, and need not say so again
        name = signal.Signals(number).name
        said = f"interrupted by {name}; what was built is kept\n"
        with suppress(OSError):  # the terminal may be closed, and a buffer in use
            os.write(2, said.encode())
    # doit ends its workers only if it gets to know; else it would wait for them for ever.
    _close_lifelines()
    # Not KeyboardInterrupt: doit would print its traceback.
    raise SystemExit(INTERRUPTED)
