"""A run with nothing to do, against plain doit with as many tasks over the same files.

`python -m benchmarks.noop [MODEL]`: MODEL of this checkout, which is built first where it
is stale; without one, a five-node model in a repository of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.vocabulary import STAGES
from benchmarks.row import Row, table
from benchmarks.timing import Command, environment, medians_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
ROUNDS = 21

HEAVY = (
    *("torch", "onnx", "onnx_ir", "onnxruntime", "onnxsim", "numpy"),
    *("pydantic", "ruamel.yaml", "jsonschema", "rich", "jinja2"),
)

PLAIN_DODO = """\
import json

def nothing():
    pass

def task_stage():
    with open("tasks.json") as file:
        for task in json.load(file):
            yield task | {"actions": [nothing]}
"""

# What the `doit` script does, and then which modules it left behind.
MODULES = """\
import json, sys
from doit.__main__ import main
try:
    code = main()
except SystemExit as exit:
    code = exit.code
print("\\n" + json.dumps([code, sorted(sys.modules)]))
"""


def measure(model: str | None = None) -> list[Row]:
    """Measure one model's no-op: its ratio to plain doit's, and what it imports."""
    with _repository(model) as (root, name), tempfile.TemporaryDirectory() as scratch:
        ours = Command([str(BIN / "doit"), f"model={name}"], root, environment(ROOT))
        ours.run()
        tasks = _write_plain(root / "build" / name, Path(scratch))
        plain = Command([str(BIN / "doit")], Path(scratch), environment(ROOT))
        ours_ms, plain_ms = medians_ms([ours, plain], ROUNDS)
        heavy = sorted(set(HEAVY) & _imported(root, name))
    detail = f"{ours_ms:.0f} ms against {plain_ms:.0f} ms, {tasks} tasks, {ROUNDS} rounds"
    return [
        Row(f"no-op of {name} / plain doit", ours_ms / plain_ms, 2, "x", detail),
        Row(f"heavy imports of it ({name})", len(heavy), 0, "modules", ", ".join(heavy)),
    ]


@contextmanager
def _repository(model: str | None) -> Iterator[tuple[Path, str]]:
    """Yield a repository and its model: this checkout's, or a new one from ONNX."""
    if model is not None:
        yield ROOT, model
        return
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "repository")
        root.mkdir()
        onnx = Path(scratch, "tiny.onnx")
        _run([sys.executable, str(ROOT / ".ci/tiny_onnx.py"), str(onnx)], root)
        _run([str(BIN / "ascendflow"), "init", "tiny", "--onnx", str(onnx)], root)
        yield root, "tiny"


def _run(arguments: list[str], folder: Path) -> None:
    Command(arguments, folder, environment(ROOT)).run()


def _write_plain(build: Path, folder: Path) -> int:
    """Write a dodo.py with one task a stage, over copies of the stages' own files.

    Each task depends on every file of its stage's inputs and has every file of its
    outputs as target; one more task stands for the verdict's.

    Returns:
        How many tasks there are.
    """
    files: dict[str, list[str]] = {}
    tasks: list[dict[str, Any]] = []
    for stage in STAGES:
        record = json.loads((build / stage / "record.json").read_text())
        needs = [
            path for role in record["fingerprint"]["inputs"] for path in files.get(role, [])
        ]
        makes = []
        for role, output in record["outputs"].items():
            files[role] = [str(Path(stage, role, inner)) for inner in output["files"]]
            makes += files[role]
        tasks.append({"name": stage, "file_dep": needs, "targets": makes})
    tasks.append({"name": "verdict", "file_dep": files["verdict.json"]})
    shutil.copytree(build, folder, dirs_exist_ok=True)
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "dodo.py").write_text(PLAIN_DODO)
    return len(tasks)


def _imported(root: Path, name: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", MODULES, f"model={name}"],
        cwd=root,
        env=environment(ROOT),
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    if code != 0:
        raise RuntimeError(f"doit model={name}: exit {code}\n{done.stdout}{done.stderr}")
    return set(modules)


if __name__ == "__main__":
    print(table(measure(*sys.argv[1:2])))
