"""How long each stage took last time, for the heartbeat; disposable, in no key."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from ascendflow.cache.files import write_bytes
from ascendflow.documents.json_file import json_text
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from pathlib import Path


class Timings:
    """Seconds by task name, in one small JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def last(self, task: str) -> float | None:
        """Return how long `task` took last time, or None."""
        seconds = self._load().get(task)
        return seconds if isinstance(seconds, int | float) else None

    def note(self, task: str, seconds: float) -> None:
        """Keep how long `task` took, if it can be; two at once may lose one entry."""
        timings = self._load() | {task: round(seconds, 3)}
        with suppress(AscendflowError):
            write_bytes(str(self._path), json_text(timings).encode("ascii"))

    def _load(self) -> dict[str, float]:
        try:
            timings = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return timings if isinstance(timings, dict) else {}
