"""A pipe whose closing ends the child, so that nothing outlives a killed parent.

The parent holds the only write end and never writes. However it dies, the kernel closes
that end. A watcher, a process of its own and not a thread, reads the other: native code
in the child may hold the interpreter's lock for minutes.
"""

from __future__ import annotations

import os
import signal

from ascendflow.child.fork import run_apart
from ascendflow.child.mark import MARK, end_marked

VARIABLE = "ASCENDFLOW_LIFELINE"
"""Names the descriptor of the read end in the child's environment."""


def watch() -> None:
    """Fork the watcher, if the parent gave a lifeline; first thing in the child."""
    value = os.environ.pop(VARIABLE, None)
    if value is None:
        return
    descriptor, mark = int(value), os.environ.get(MARK, "")
    run_apart(lambda: _end_all_when_closed(descriptor, mark))
    os.close(descriptor)


def _end_all_when_closed(descriptor: int, mark: str) -> None:
    while os.read(descriptor, 1):
        pass
    if mark:
        end_marked(mark)
    os.killpg(0, signal.SIGKILL)
