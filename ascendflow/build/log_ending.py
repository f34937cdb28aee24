"""The end of a log as an error shows it: without what leads nobody to the line to change.

The log itself keeps everything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.factories import users_file
from ascendflow.process import tail
from ascendflow.terminal import uncoloured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LINES = 20
_READ = 400
"""Lines that are looked at to find `LINES` that tell something: tracebacks are long."""
_FRAME = re.compile(r'( *)File "([^"]+)", line \d+, in ')
_MARKS = re.compile(r" *[~^]+ *")
_NOISE = re.compile(
    r"torchvision is not installed\. Skipping "
    r"|^- (If there is an? (missing|internal)|Create an error report with) "
    r"|^\(Refer to the full stack trace above"
)
"""What torch's exporter says at every start, and advises whoever writes exporters."""


def telling(log: Path) -> list[str]:
    """Return the last lines of a log: no colours, and no frames but of the user's code."""
    return list(_of_the_user(uncoloured(tail(log, _READ)).splitlines()))[-LINES:]


def _of_the_user(lines: Iterable[str]) -> Iterator[str]:
    """Leave out frames of libraries with the code that they quote, and all underlining."""
    frame: re.Match[str] | None = None
    for line in lines:
        if found := _FRAME.match(line):
            frame = found
        elif frame is not None and not line.startswith(f"{frame[1]} "):
            frame = None  # what a frame quotes is indented further than the frame
        is_users = frame is None or users_file(frame[2]) is not None
        is_mark = frame is not None and _MARKS.fullmatch(line)
        if is_users and not is_mark and not _NOISE.search(line):
            yield line
