"""Standard output as a run finds it: any encoding, and perhaps nobody who reads it."""

from __future__ import annotations

import signal
import sys
import threading
from io import TextIOWrapper


def prepare() -> None:
    """Let no character and no reader that went away end a run with a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # As other tools do when `| head` has seen enough; Python would show a traceback.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
