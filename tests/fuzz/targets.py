"""Gives a mutated ONNX file to all that knows CANN: lint, the emulator, every rule.

The pipeline calls none of them before its export stage has passed a file. Here they meet
it as it is.
"""

from __future__ import annotations

import shutil
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann import listing
from ascendflow.cann.survey import survey
from ascendflow.cann.target import Target
from ascendflow.documents.lint import Lint
from ascendflow.errors import AscendflowError
from ascendflow.graph.io_spec import inputs_of
from ascendflow.graph.rewrite import Request, rewrite
from tests.emulation import target
from tests.fuzz import onnx_files
from tests.fuzz.graphs import WEIGHTS_FILE
from tests.fuzz.journey import Verdict
from tests.models import run
from tests.rewriting import KEEPING, rewrite_file, why_broken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.fuzz.recipes import Recipe

LARGEST_INPUT = 1 << 16


class BrokenPromiseError(Exception):
    """A rule changed what a model computes."""


def take(recipe: Recipe, folder: Path, enter: Callable[[str], None]) -> Verdict:
    """Lint, list, compile and run, and rewrite a mutated model, one after the other.

    Each is done whatever became of the one before; the verdict is the first refusal. What
    compiling has against the target, and not against the file, lint must have told.
    """
    steps = (recipe.changes, recipe.damages)
    file = onnx_files.write_made(recipe.seed(), *steps, folder / "downloads")
    made = folder / "repository"
    made.mkdir()
    config = target(recipe.soc_version, recipe.precision_mode, recipe.cann)
    return _taken(file, made, config, recipe.lossy, enter)


def _taken(
    file: Path,
    made: Path,
    config: Mapping[str, str],
    lossy: str,
    enter: Callable[[str], None],
) -> Verdict:
    verdict, told = Verdict("passed"), list[Lint]()
    steps: dict[str, Callable[[], Any]] = {
        "lint": lambda: told.append(survey(file, config, all_weights=True)),
        "precision": lambda: _list(file, config),
        "compile": lambda: _emulate(file, made / "model", config),
        "rewrite": lambda: _rewrite(file, made / "rewritten.onnx"),
        "lossy": lambda: rewrite(file, made / "lossy.onnx", [Request(lossy)]),
    }
    for name, step in steps.items():
        enter(name)
        try:
            step()
        except AscendflowError as error:
            if name == "compile" and is_untold(str(error), told):
                return Verdict("bug", name, f"lint passes it, but {error}")
            if verdict.how == "passed":
                verdict = Verdict("refused", name, str(error), error.exit_code)
        except BaseException:  # noqa: BLE001 - MemoryError and RecursionError are findings
            return Verdict("bug", name, traceback.format_exc())
    return verdict


def is_untold(refusal: str, told: list[Lint]) -> bool:
    """Whether convert refuses what is in a model, and lint found nothing that stops it."""
    if not refusal.startswith(("convert: CANN", "convert: the emulator has no model")):
        return False
    found = [each for lint in told for each in lint["findings"] if each["stops_convert"]]
    return bool(told) and not found


def _list(file: Path, config: Mapping[str, str]) -> None:
    """List the types of all nodes, as data and as text."""
    where = Target.of(config)
    rows = listing.listed(file, where)
    listing.as_data(rows, where)
    listing.as_text(rows, where)


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
