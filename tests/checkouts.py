"""A whole checkout in a folder, its stages replaced by stand-ins, so that a run is quick.

All else is the real code: manifest, plan, doit, children, cache, store. An edit of the
copied package is an edit of ascendflow, and may be tried without harm.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ascendflow.stages import STAGES, load_stage

if TYPE_CHECKING:
    from collections.abc import Iterable

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
METRIC = "def mean_iou():\n    return 0.8\n"
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
        return re.findall(rf"^   ([a-z]+):\S+ {how}", self.text, re.MULTILINE)

    @property
    def executed(self) -> list[str]:
        return self.stages("executed")

    @property
    def restored(self) -> list[str]:
        return self.stages("restored")


class Checkout:
    """A repository with models, of stand-in stages unless told otherwise."""

    def __init__(
        self, folder: Path, models: Iterable[str] = ("toy",), *, stand_ins: bool = True
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE / "ascendflow", folder / "ascendflow", ignore=ignore)
        shutil.copytree(SOURCE / "schemas", folder / "schemas")
        for name in ("dodo.py", "pyproject.toml"):
            shutil.copyfile(SOURCE / name, folder / name)
        if stand_ins:
            self._replace_stages()
        for model in models:
            self.add_model(model)

    def add_model(self, model: str) -> None:
        pipeline = self.folder / "pipelines" / model
        (pipeline / "pictures").mkdir(parents=True)
        (pipeline / "pictures" / "one.txt").write_text("a picture")
        (pipeline / "manifest.yaml").write_text(MANIFEST.format(model=model))
        sources = {"model": MODEL, "metric": METRIC, "data": DATA, "strokes": STROKES}
        for name, text in sources.items():
            (pipeline / f"{name}.py").write_text(text)

    def path(self, relative: str) -> Path:
        return self.folder / relative

    def edit(self, relative: str, old: str, new: str) -> None:
        """Replace `old`, which must be there, by `new` in a file."""
        path = self.path(relative)
        text = path.read_text()
        assert old in text, f"{relative} has no {old!r}"
        path.write_text(text.replace(old, new))

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start doit in this checkout, and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def doit(self, *arguments: str, **environment: str) -> Run:
        """Run doit in this checkout to its end."""
        process = self.start(*arguments, **environment)
        text, _ = process.communicate(timeout=300)
        return Run(process.returncode, text)

    def _replace_stages(self) -> None:
        stages = self.folder / "ascendflow" / "stages"
        shutil.copyfile(SOURCE / "tests" / "standin.py", stages / "standin.py")
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


ALL = [name for name, _ in STAGES]
FROM_REWRITE = ALL[ALL.index("rewrite") :]
FROM_CONVERT = ALL[ALL.index("convert") :]
