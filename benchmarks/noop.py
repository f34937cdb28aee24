"""A run with nothing to do, against plain doit with as many tasks over the same files.

`python -m benchmarks.noop [MODEL]`: MODEL of this checkout, which is built first where it
is stale; without one, a five-node model in a repository of its own. Many models, and
other tools: `build`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import plain
from benchmarks.row import Row, table
from benchmarks.timing import Command, environment, times

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOIT = str(Path(sys.executable).parent / "doit")
ROUNDS = 21

HEAVY = (
    *("torch", "onnx", "onnx_ir", "onnxruntime", "onnxsim", "numpy"),
    *("pydantic", "ruamel.yaml", "jsonschema", "rich", "jinja2"),
)

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
    """Measure one model's no-op, `list` and `info`: ratios to plain doit's, and imports."""
    with _repository(model) as (root, name):
        _doit(root, f"model={name}").run()
        rows = []
        for command in ([], ["list"], ["info", f"gate:{name}"]):
            arguments = [*command, f"model={name}"]
            said = " ".join(["doit", *arguments])
            theirs = ["info", "stage:gate"] if "info" in command else command
            rows.append(_ratio(said, root, name, (arguments, theirs)))
            heavy = sorted(set(HEAVY) & _imported(root, arguments))
            rows.append(
                Row(f"heavy imports of {said}", len(heavy), 0, "modules", ", ".join(heavy))
            )
        return rows


def _ratio(
    said: str, root: Path, model: str, arguments: tuple[list[str], list[str]]
) -> Row:
    """Compare ours with plain doit over copies of the same files."""
    with tempfile.TemporaryDirectory() as scratch:
        tasks = plain.write(root / "build", model, Path(scratch))
        Command([DOIT], Path(scratch), environment(ROOT)).run()
        ours = _doit(root, *arguments[0])
        theirs = Command([DOIT, *arguments[1]], Path(scratch), environment(ROOT))
        mine, its = times([ours, theirs], ROUNDS)
        counts = ours.instructions(), theirs.instructions()
    detail = (
        f"{mine.median_ms:.0f} ms against {its.median_ms:.0f} ms, {tasks} tasks, "
        f"{ROUNDS} rounds; of the least {mine.least_ms / its.least_ms:.2f} x"
    )
    if counts[0] and counts[1]:
        detail += f", of instructions {counts[0] / counts[1]:.2f} x"
    return Row(f"{said} / plain doit", mine.median_ms / its.median_ms, 2, "x", detail)


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
        _python(root, str(ROOT / ".ci/tiny_onnx.py"), str(onnx))
        _python(root, "-m", "ascendflow.cli", "init", "tiny", "--onnx", str(onnx))
        yield root, "tiny"


def _python(folder: Path, *arguments: str) -> str:
    return Command([sys.executable, *arguments], folder, environment(ROOT)).run()


def _doit(root: Path, *arguments: str) -> Command:
    return Command([DOIT, *arguments], root, environment(ROOT))


def _imported(root: Path, arguments: list[str]) -> set[str]:
    output = _python(root, "-c", MODULES, *arguments)
    code, modules = json.loads(output.splitlines()[-1])
    if code != 0:
        raise RuntimeError(f"doit {' '.join(arguments)}: exit {code}\n{output}")
    return set(modules)


if __name__ == "__main__":
    print(table(measure(*sys.argv[1:2])))
