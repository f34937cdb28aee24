"""`doit gc [--keep-days N]`: drop from the store what no record in `build/` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doit.cmd_base import DoitCmdBase

from ascendflow.build.project import RECORD
from ascendflow.cache.record import load_record
from ascendflow.cache.staleness import StaleReason
from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.session import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.record import Record


class Gc(WithoutTraceback, DoitCmdBase):
    """Prunes the store; every record below `build/` is a root."""

    name = "gc"
    doc_purpose = "remove stored artifacts that nothing in build/ refers to"
    doc_usage = ""
    doc_description = "What is removed can be built again; it only costs the time."
    cmd_options = (
        {
            "name": "keep_days",
            "long": "keep-days",
            "type": int,
            "default": 30,
            "help": "keep what was made or restored in the last N days [default: 30]",
        },
    )

    def _execute(self, keep_days: int) -> int:
        keys = [record["key"] for record in _records()]
        freed = SESSION.project.store.gc(keys, keep_days=keep_days)
        self.outstream.write(f"removed {freed}\n")
        return 0


def _records() -> Iterator[Record]:
    for path in sorted((SESSION.project.repository / "build").glob(f"*/*/{RECORD}")):
        record = load_record(path)
        if not isinstance(record, StaleReason):
            yield record
