"""A process that collects inotify's events while the stage runs.

Not a thread: native code may hold the interpreter's lock while a subprocess opens more
files than the kernel's queue holds, and user code may fork.
"""

from __future__ import annotations

import json
import os
import select
import socket
from typing import TYPE_CHECKING, Any

from ascendflow.child.fork import run_apart
from ascendflow.errors import InternalError, StageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

READY = "ready"
NAP_S = 0.02
"""Events are taken in batches; the queue (16384 by default) outlasts a nap."""


class Observer:
    """Watches folders, until it is stopped.

    Attributes:
        trouble: why nothing is watched, or None.
    """

    def __init__(self, folders: Sequence[str], skip: Collection[str]) -> None:
        """Start the process and wait until all watches are set.

        Args:
            folders: watched with all below them; symbolic links are not followed.
            skip: resolved paths of folders that are left out.
        """
        ours, theirs = socket.socketpair()
        run_apart(lambda: _observe(ours, theirs, folders, skip))
        theirs.close()
        self._answers = ours.makefile("r", encoding="utf-8")
        self._socket = ours
        answer = self._answers.readline().strip()
        self.trouble = None if answer == READY else answer or "the observer ended early"

    def stop(self) -> tuple[set[str], set[str], set[str]]:
        """End the process.

        Returns:
            The files that were opened, by resolved path and by the links that lead to
            them; the paths that came into being meanwhile, and had not been there; and the
            folders that took the place of others, in which nothing is seen.

        Raises:
            StageError: the kernel dropped events, so a read may be unknown.
            InternalError: the process is gone.
        """
        self._socket.shutdown(socket.SHUT_WR)
        text = self._answers.read()
        self._answers.close()
        self._socket.close()
        if self.trouble is not None:
            return set(), set(), set()
        if not text:
            raise InternalError("the process that records reads ended early")
        answer: dict[str, Any] = json.loads(text)
        if answer["overflowed"]:
            raise StageError(
                "more files were opened at once than the kernel's queue holds, so that "
                "not all reads are known and nothing can be recorded",
                hint="raise fs.inotify.max_queued_events (sysctl) and run again",
            )
        return set(answer["files"]), set(answer["created"]), set(answer["replaced"])


def _observe(
    ours: socket.socket,
    theirs: socket.socket,
    folders: Sequence[str],
    skip: Collection[str],
) -> None:
    ours.close()
    try:
        from ascendflow.reads.inotify import Inotify

        inotify = Inotify(folders, skip)
    except (OSError, ImportError) as error:
        theirs.sendall(f"{error}\n".encode())
        return
    theirs.sendall(f"{READY}\n".encode())
    poll = select.poll()
    poll.register(inotify.descriptor, select.POLLIN)
    poll.register(theirs, select.POLLIN)
    while not any(descriptor == theirs.fileno() for descriptor, _ in poll.poll()):
        inotify.drain()
        select.select([theirs], [], [], NAP_S)
    inotify.drain()
    opened = inotify.opened
    answer = {
        "files": sorted(opened.files | _links_to(opened.files, opened.links)),
        "created": sorted(opened.created),
        "replaced": sorted(opened.replaced),
        "overflowed": opened.overflowed,
    }
    theirs.sendall(json.dumps(answer).encode())


def _links_to(files: Collection[str], links: Sequence[str]) -> set[str]:
    """Return the paths by which links lead to `files`: a link may be turned elsewhere."""
    found = set()
    for link in links:
        target = os.path.realpath(link)
        if target in files:
            found.add(link)
        elif os.path.isdir(target):
            inner = (file for file in files if file.startswith(target + "/"))
            found |= {link + file[len(target) :] for file in inner}
    return found
