"""The worker as one file: a zip of its modules, which any Python runs as it is."""

from __future__ import annotations

import zipfile
from pathlib import Path

from ascendflow.backends.cann import worker
from ascendflow.backends.cann.worker import (
    acl_codes,
    ais_bench_session,
    call,
    dump,
    files,
    held,
    inference,
    machine,
    pyacl_session,
    refused,
    slot,
)

WORKER = "worker.pyz"
MODULES = (
    worker,
    acl_codes,
    ais_bench_session,
    call,
    dump,
    files,
    held,
    inference,
    machine,
    pyacl_session,
    refused,
    slot,
)
"""All that goes there. They are imported so that they are part of a stage's own code."""

MAIN = "from worker.call import main\n\nmain()\n"


def write_worker(folder: Path) -> Path:
    """Write the worker into `folder`: the same bytes each time, so that it is sent once."""
    path = folder / WORKER
    with zipfile.ZipFile(path, "w") as archive:
        _add(archive, "__main__.py", MAIN)
        for module in MODULES:
            source = Path(str(module.__file__))
            text = source.read_text(encoding="utf-8")
            _add(archive, f"worker/{source.name}", text)
    return path


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(zipfile.ZipInfo(name), text)  # dated 1980, and not compressed
