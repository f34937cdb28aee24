"""Ctrl-C and SIGTERM: end the children, exit with 130, without a traceback."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130


def install() -> None:
    """Handle the signals that end a run; call it from the main thread."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    if (process := sys.modules.get("ascendflow.process")) is not None:  # it has children
        process.end_all()
    sys.stderr.write(
        f"interrupted by {signal.Signals(number).name}; what was built is kept\n"
    )
    # Not KeyboardInterrupt: doit would print its traceback.
    raise SystemExit(INTERRUPTED)
