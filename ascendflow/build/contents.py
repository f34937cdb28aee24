"""What lies at the paths that a proof rests on, for when their mtimes are new.

A cache that was restored has other states and the same contents, and a judgement rests on
contents alone. To hash them is still dear, but there is nothing else to do.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.digest import digest_json
from ascendflow.cache.files import write_disposable
from ascendflow.errors import AscendflowError
from ascendflow.reads.names import identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ascendflow.cache.index import Index


class Contents:
    """The contents that belong to the states of one proof, in a file of its own.

    Apart from the proof, so that a run that finds all states as they were reads none.
    """

    def __init__(self, path: str, index: Index) -> None:
        self._path = path
        self._index = index

    def note(self, states: Mapping[str, str]) -> None:
        """Keep what lies at these paths, if it is still in these states."""
        with suppress(OSError, ValueError, AscendflowError):  # it only saves time later
            self.keep(states, _contents(states, self._index))

    def keep(self, states: Mapping[str, str], contents: Mapping[str, str]) -> None:
        """Keep what is known to lie at these paths, if it is still in these states."""
        with suppress(OSError, ValueError, AscendflowError):
            if states_of(states) == states:
                text = json.dumps({"states": states, "contents": contents})
                write_disposable(self._path, text.encode("ascii"))

    def of(self, states: Mapping[str, str]) -> dict[str, str]:
        """Return what was kept of these states; {} if it was of others."""
        try:
            with open(self._path, "rb") as file:
                kept = json.loads(file.read())
            return dict(kept["contents"]) if kept["states"] == states else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def lie_there(self, contents: Mapping[str, str], paths: Iterable[str]) -> bool:
        """Whether at each of these paths lies what `contents` says."""
        try:
            now = _contents(paths, self._index)
        except (OSError, ValueError):
            return False
        return all(contents.get(path) == found for path, found in now.items())


def states_of(paths: Iterable[str]) -> dict[str, str]:
    """Tell the state of each path; a link is followed.

    Raises:
        OSError: nothing is there.
    """
    return {path: identity(os.stat(path)) for path in paths}


def _contents(paths: Iterable[str], index: Index) -> dict[str, str]:
    """Spell kind and content of each; a folder's are its names, a link's its goal too."""
    contents: dict[str, str] = {}
    files: list[str] = []
    for path in paths:
        mode, kind = os.lstat(path).st_mode, ""
        if stat.S_ISLNK(mode):
            mode, kind = os.stat(path).st_mode, f"link to {os.readlink(path)}, "
        if stat.S_ISDIR(mode):
            contents[path] = f"{kind}folder of {digest_json(sorted(os.listdir(path)))}"
        else:
            contents[path] = f"{kind}file of "
            files.append(path)
    for path, digest in index.digests(files).items():
        contents[path] += digest
    return contents
