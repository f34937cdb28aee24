"""A whole checkout in a folder, its stages replaced by stand-ins, so that a run is quick.

All else is the real code: manifest, plan, doit, children, cache, store. An edit of the
copied package is an edit of ascendflow, and may be tried without harm.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.plan import OF_SEVERAL
from ascendflow.stages import STAGES, load_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SPOILERS = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "COLUMNS", "NO_COLOR")
"""Variables of whoever runs the tests that would change what is tested."""

SOURCE = Path(__file__).resolve().parent.parent

STAGE = '''"""A stand-in for {name}."""

from __future__ import annotations

from ascendflow.stages.standin import play


class {class_name}:
    name = {name!r}
    consumes = frozenset({consumes!r})
    produces = frozenset({produces!r})
    computes_floats = {computes_floats!r}
    runs_user_code = {runs_user_code!r}

    @staticmethod
    def tools(config):
        return ("doit",) if {name!r} == "convert" else ()

    def run(self, ctx):
        play(self, ctx)
'''

MANIFEST = """\
schema_version: 1
model: {model}
source:
  torch: {{module: model.py, factory: build, arguments: {{classes: 5}}}}
inputs:
  - {{name: image, dtype: float32, shape: [1, 3, 8, 8]}}
samples: {{module: data.py, factory: test_samples, arguments: {{count: 2}}}}
rewrite: {{rules: [resize-half-pixel]}}
convert:
  backend: emulator
  cann: "8.1"
  soc_version: Ascend310P3
  precision_mode: force_fp16
evaluate: {{module: metric.py, factory: mean_iou, direction: higher}}
gate:
  outputs: {{"*": {{cosine_similarity: {{min: 0.9}}}}}}
"""

MODEL = "def build(classes):\n    return f'a model of {classes} classes'\n"
METRIC = "def mean_iou(*_):\n    return 0.8\n"
DATA = """\
from pathlib import Path

from strokes import width


def test_samples(count):
    folder = Path(__file__).parent / "pictures"
    pictures = [(p.name, p.read_text()) for p in sorted(folder.iterdir())]
    return [pictures, width(), count]
"""
STROKES = "def width():\n    return 3\n"


@dataclass(frozen=True)
class Run:
    """How a command ended.

    Attributes:
        code: its exit code.
        text: its standard output and error.
    """

    code: int
    text: str

    def stages(self, how: str) -> list[str]:
        """Name the stages that were `how`: executed, restored or repeated; in order."""
        return re.findall(rf"^   ([a-z@]+):\S+ {how}", self.text, re.MULTILINE)

    @property
    def has_traceback(self) -> bool:
        """Whether it shows one of its own; those in the end of a log are indented."""
        return re.search(r"^Traceback", self.text, re.MULTILINE) is not None

    @property
    def executed(self) -> list[str]:
        return self.stages("executed")

    @property
    def restored(self) -> list[str]:
        return self.stages("restored")


def finished(process: subprocess.Popen[str]) -> Run:
    """Wait for a started run to end."""
    text, _ = process.communicate(timeout=300)
    return Run(process.returncode, text)


@dataclass(frozen=True)
class Meeting:
    """Where a test and a running stage wait for each other.

    Attributes:
        folder: both leave files there.
    """

    folder: Path

    def wait(self) -> int:
        """Wait for the stage to arrive; returns its process id."""
        until(self.folder.joinpath("arrived").exists)
        return int((self.folder / "arrived").read_text())

    def go(self) -> None:
        """Let the stage go on."""
        (self.folder / "go").touch()


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not after {seconds} s"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Checkout:
    """A repository with models, of stand-in stages unless told otherwise."""

    def __init__(
        self, folder: Path, models: Iterable[str] = ("toy",), *, stand_ins: bool = True
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # What is compiled comes along, but for what a process is about to put there.
        ignore = shutil.ignore_patterns("*.pyc.*")
        shutil.copytree(SOURCE / "ascendflow", folder / "ascendflow", ignore=ignore)
        shutil.copytree(SOURCE / "schemas", folder / "schemas")
        for name in ("dodo.py", "pyproject.toml"):
            shutil.copyfile(SOURCE / name, folder / name)
        if stand_ins:
            self._replace_stages()
        for model in models:
            self.add_model(model)

    def copied_to(self, folder: Path) -> Checkout:
        """Copy everything, what was built included; every file is a new one there."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = copy(self)
        other.folder = folder
        return other

    def add_model(self, model: str) -> None:
        """Add a model that is like all others, but for its name."""
        pipeline = self.folder / "pipelines" / model
        (pipeline / "pictures").mkdir(parents=True)
        (pipeline / "pictures" / "one.txt").write_text("a picture")
        (pipeline / "manifest.yaml").write_text(MANIFEST.format(model=model))
        sources = {"model": MODEL, "metric": METRIC, "data": DATA, "strokes": STROKES}
        for name, text in sources.items():
            (pipeline / f"{name}.py").write_text(text)

    def inject(self, stage: str, *lines: str) -> None:
        """Let a stage do something first; `ctx` is its context. Its key is another then."""
        first = "".join(f"{line}\n        " for line in lines)
        self.edit(
            f"ascendflow/stages/{stage}.py", "play(self, ctx)", f"{first}play(self, ctx)"
        )

    def meet_in(self, stage: str) -> Meeting:
        """Let a stage stop where the test can meet it."""
        meeting = Meeting(self.folder.parent / f"meeting-in-{stage}")
        meeting.folder.mkdir()
        self.inject(
            stage,
            "from ascendflow.stages.standin import announce_and_wait",
            f"announce_and_wait({str(meeting.folder)!r})",
        )
        return meeting

    def outputs(self, model: str = "toy") -> dict[str, bytes]:
        """Read every artifact and record below `build/`, by path; no logs."""
        build = self.folder / "build" / model
        return {
            path.relative_to(build).as_posix(): path.read_bytes()
            for path in sorted(build.glob("*/**/*"))
            if path.is_file() and path.name != "log.txt"
        }

    def record(self, stage: str, model: str = "toy") -> dict[str, Any]:
        """Read a stage's record."""
        path = self.folder / "build" / model / stage / "record.json"
        record: dict[str, Any] = json.loads(path.read_text())
        return record

    def path(self, relative: str) -> Path:
        return self.folder / relative

    def edit(self, relative: str, old: str, new: str) -> None:
        """Replace `old`, which must be there, by `new` in a file."""
        path = self.path(relative)
        text = path.read_text()
        assert old in text, f"{relative} has no {old!r}"
        path.write_text(text.replace(old, new))

    def start(
        self,
        *arguments: str,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start doit in this checkout, and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *arguments],
            cwd=self.folder,
            env=self._environment(environment or {}),
            stdout=stdout,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )

    def doit(self, *arguments: str, **environment: str) -> Run:
        """Run doit in this checkout to its end."""
        process = self.start(*arguments, environment=environment)
        return finished(process)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if k not in SPOILERS}
        return {**inherited, "PYTHONPATH": str(self.folder), **more}

    def _replace_stages(self) -> None:
        stages = self.folder / "ascendflow" / "stages"
        for name in ("standin.py", "standin_documents.py"):
            shutil.copyfile(SOURCE / "tests" / name, stages / name)
        for name, _ in STAGES:
            real = load_stage(name)
            text = STAGE.format(
                name=name,
                class_name=real.__name__,
                consumes=sorted(real.consumes),
                produces=sorted(real.produces),
                computes_floats=real.computes_floats,
                runs_user_code=real.runs_user_code,
            )
            (stages / f"{name}.py").write_text(text)


PASSED = (
    "toy: passed (1 check; CANN 8.1, Ascend310P3, force_fp16; emulated, not run on "
    "a device)"
)
ALL = [name for name, _ in STAGES if name not in OF_SEVERAL]
FROM_REWRITE = ALL[ALL.index("rewrite") :]
FROM_LINT = ALL[ALL.index("lint") :]
