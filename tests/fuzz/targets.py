"""Gives a mutated ONNX file to all that knows CANN: lint, the emulator, every rule.

The pipeline calls none of them before its export stage has passed a file. Here they meet
it as it is.
"""

from __future__ import annotations

import random
import shutil
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.precision import MODELLED as MODES
from ascendflow.cann.soc import MODELLED as SOCS
from ascendflow.cann.survey import survey
from ascendflow.errors import AscendflowError
from ascendflow.graph.io_spec import inputs_of
from ascendflow.graph.rewrite import Request, rewrite
from tests.emulation import target
from tests.fuzz import onnx_files
from tests.fuzz.graphs import SEEDS, WEIGHTS_FILE
from tests.fuzz.journey import Verdict
from tests.models import run
from tests.random_models import random_model
from tests.rewriting import KEEPING, LOSSY, rewrite_file, why_broken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

VERSIONS = ("6.0", "8.1", "8.1", "8.5")
LARGEST_INPUT = 1 << 16


class BrokenPromiseError(Exception):
    """A rule changed what a model computes."""


def seed(rng: random.Random) -> onnx.ModelProto:
    """Make a valid model: half of them random operators, half of every kind."""
    if rng.random() < 0.5:
        return random_model(rng, longest=3).model()
    return rng.choice(SEEDS)()


def take(number: int, folder: Path, enter: Callable[[str], None]) -> Verdict:
    """Lint, compile and run, and rewrite mutated model `number`, one after the other.

    Each is done whatever became of the one before; the verdict is the first refusal.
    """
    file = onnx_files.write(number, folder / "downloads", seed=seed)
    made = folder / "repository"
    made.mkdir()
    rng = random.Random(number)  # noqa: S311 - to be repeated
    config = target(rng.choice(list(SOCS)), rng.choice(MODES), rng.choice(VERSIONS))
    lossy = [rng.choice(LOSSY)] if LOSSY else []
    verdict = Verdict("passed")
    steps: dict[str, Callable[[], Any]] = {
        "lint": lambda: survey(file, config, all_weights=True),
        "compile": lambda: _emulate(file, made / "model", config),
        "rewrite": lambda: _rewrite(file, made / "rewritten.onnx"),
        "lossy": lambda: rewrite(file, made / "lossy.onnx", [*map(Request, lossy)]),
    }
    for name, step in steps.items():
        enter(name)
        try:
            step()
        except AscendflowError as error:
            if verdict.how == "passed":
                verdict = Verdict("refused", name, str(error), error.exit_code)
        except BaseException:  # noqa: BLE001 - MemoryError and RecursionError are findings
            return Verdict("bug", name, traceback.format_exc())
    return verdict


def _emulate(file: Path, folder: Path, config: Mapping[str, str]) -> None:
    """Compile, and where onnxruntime runs the model, run."""
    Emulator().compile(file, folder, config)
    if (feeds := _feeds(file)) is not None:
        list(Emulator().infer(folder, [feeds], threads=1))


def _rewrite(file: Path, edited: Path) -> None:
    """Apply every rule that keeps values, and see whether it does."""
    applied, _ = rewrite_file(file, edited, KEEPING)
    if not applied or (feeds := _feeds(file)) is None:
        return
    shutil.copyfile(file.with_name(WEIGHTS_FILE), edited.with_name(WEIGHTS_FILE))
    before, after = (run(onnx.load(path), feeds) for path in (file, edited))
    if (why := why_broken(before, after, applied)) is not None:
        raise BrokenPromiseError(why)


def _feeds(file: Path) -> dict[str, np.ndarray] | None:
    """Return random feeds if the model is valid and onnxruntime runs it, else None."""
    try:
        model = onnx.load(file)
        onnx.checker.check_model(model, full_check=True)
        feeds = {
            spec.name: _random(
                [d if isinstance(d, int) else 2 for d in spec.shape or ()]
            ).astype(spec.dtype)
            for spec in inputs_of(model)
        }
        run(model, feeds)
    except Exception:  # noqa: BLE001 - whoever refuses it, there is nothing to compare
        return None
    return feeds


def _random(shape: list[int]) -> np.ndarray:
    if np.prod(np.array(shape, float)) > LARGEST_INPUT:
        raise ValueError(f"too large: {shape}")
    return np.random.default_rng(0).standard_normal(shape) * 2
