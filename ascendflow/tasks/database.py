"""doit's saved values: one small JSON file, which may be lost or damaged at any time.

doit's own backends end a run with a traceback where the file is damaged; and where two
runs end at once, sqlite3 says "database is locked" (its transaction is open from the
first failed task on), while the others lose what one of them saved.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ascendflow.cache.files import write_bytes
from ascendflow.cache.lock import hold
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from doit.dependency import JSONCodec

Values = dict[str, Any]

IGNORED = "ignore:"
"""What doit saves of a task that it is to skip, a gate that then has no verdict, say."""


class Database:
    """doit's interface of a backend; what is not there or not whole counts as empty.

    Args:
        name: path of the file.
        codec: turns it into values and back.
        module_name: of no use here; doit gives it.
    """

    desc = "one JSON file that two runs may share"

    def __init__(
        self, name: str, codec: JSONCodec, *, module_name: str | None = None
    ) -> None:
        del module_name
        self.name = name
        self._codec = codec
        self._tasks = self._load()
        self._changed: set[str] = set()
        self._is_cleared = False

    def get(self, task_id: str, dependency: str) -> Any:
        """Return a saved value, or None; that a task be ignored is never one."""
        if dependency == IGNORED:  # by doit's own command, which ours stands in place of
            return None
        return self._tasks.get(task_id, {}).get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Save a value; written at the end, and only if it is another than before."""
        value = list(value) if isinstance(value, tuple) else value
        if value != self.get(task_id, dependency):
            self._tasks.setdefault(task_id, {})[dependency] = value
            self._changed.add(task_id)

    def in_(self, task_id: str) -> bool:
        """Whether anything is saved for a task."""
        return task_id in self._tasks

    def remove(self, task_id: str) -> None:
        """Forget a task."""
        if self._tasks.pop(task_id, None) is not None:
            self._changed.add(task_id)

    def remove_all(self) -> None:
        """Forget every task."""
        self._tasks = {}
        self._is_cleared = True

    def dump(self) -> None:
        """Write what changed into the file as it is by now; other runs write there too."""
        if not (self._changed or self._is_cleared):
            return
        # Lost values cost nothing but a look at each stage, so a run does not fail on them.
        with suppress(AscendflowError), hold(f"{self.name}.lock"):
            tasks = {} if self._is_cleared else self._load()
            for task_id in self._changed:
                tasks.pop(task_id, None)
                if task_id in self._tasks:
                    tasks[task_id] = self._tasks[task_id]
            write_bytes(self.name, self._codec.encode(tasks).encode())

    def _load(self) -> dict[str, Values]:
        try:
            with open(self.name, "rb") as file:
                tasks = self._codec.decode(file.read().decode())
        except (OSError, ValueError):
            return {}
        if not isinstance(tasks, dict):
            return {}
        return {name: each for name, each in tasks.items() if isinstance(each, dict)}
