"""Plain doit with as many tasks as a pipeline has, over copies of its files."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from ascendflow.plan import OF_SEVERAL
from ascendflow.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DODO = """\
import json

def nothing():
    pass

def task_stage():
    with open("tasks.json") as file:
        for task in json.load(file):
            yield task | {"actions": [nothing]}
"""


def write(build: Path, model: str, folder: Path) -> int:
    """Write a dodo.py with one task for each stage of a model, and one for its verdict.

    Each task depends on every file of its stage's inputs and has every file of its
    outputs as target.

    Returns:
        How many tasks there are.
    """
    shutil.copytree(build / model, folder / model)
    tasks = list(_tasks(folder, model))
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "dodo.py").write_text(DODO)
    return len(tasks)


def _tasks(folder: Path, model: str) -> Iterator[dict[str, Any]]:
    files: dict[str, list[str]] = {}
    for stage in (name for name in STAGES if name not in OF_SEVERAL):
        record = json.loads((folder / model / stage / "record.json").read_text())
        needs = [
            path for role in record["fingerprint"]["inputs"] for path in files.get(role, [])
        ]
        makes = []
        for role, output in record["outputs"].items():
            files[role] = [
                f"{model}/{stage}/{role}/{i}".rstrip("/") for i in output["files"]
            ]
            makes += files[role]
        yield {"name": stage, "file_dep": needs, "targets": makes}
    yield {"name": "verdict", "file_dep": files["verdict.json"]}
