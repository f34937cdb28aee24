"""The child that takes many files, one after the other: `python -m tests.fuzz.worker`.

Reads a task a line, answers in lines of JSON: first the stages it enters, then a verdict.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fuzz import archives, journey, manifests, onnx_files, targets
from tests.fuzz.recipes import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.fleet import Case

MEMORY = 6 << 30
"""Bytes of addresses: a model that declares more meets an error, not the machine's end."""


def onnx_file(number: int, folder: Path, enter: Callable[[str], None]) -> journey.Verdict:
    """Take a mutated ONNX file through init and all stages."""
    file = onnx_files.write(number, folder / "downloads")
    (folder / "repository").mkdir()
    return journey.travel(file, folder / "repository", enter=enter)


def target(case: Case, folder: Path, enter: Callable[[str], None]) -> journey.Verdict:
    """Give a mutated ONNX file to lint, the emulator and the rules."""
    recipe = Recipe.numbered(case) if isinstance(case, int) else Recipe.of(case)
    return targets.take(recipe, folder, enter)


def archive(number: int, folder: Path, enter: Callable[[str], None]) -> journey.Verdict:
    """Give a mutated .npz file to the samples stage."""
    return archives.read(number, folder, enter)


def manifest(number: int, folder: Path, enter: Callable[[str], None]) -> journey.Verdict:
    """Load a mutated manifest, and cut it into what stages are told."""
    content = manifests.mutated(number)
    return journey.load(content, folder / "repository", enter=enter)


KINDS: dict[str, Callable[..., journey.Verdict]] = {
    "onnx": onnx_file,
    "npz": archive,
    "manifest": manifest,
    "target": target,
}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # native code may print
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")

    def answer(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    for line in sys.stdin:
        task = json.loads(line)
        folder = Path(task["folder"])
        folder.mkdir(parents=True)
        os.chdir(folder)  # where a relative name leads
        verdict = KINDS[task["kind"]](
            task["case"], folder, lambda stage: answer({"enters": stage})
        )
        said = verdict.to_json()
        said["escaped"] = sorted(_escaped(folder))
        os.chdir(folder.parent)
        shutil.rmtree(folder)
        answer(said)


def _escaped(folder: Path) -> set[str]:
    """Name what was written outside of the repository, and what was read into it."""
    found = set()
    for place, allowed in (
        (folder.parent.parent, {"files", "log.txt"}),
        (folder.parent, {folder.name}),
        (folder, {"downloads", "repository", "secret.bin"}),
        (folder / "downloads", {"model.onnx", "weights.bin", "link.bin"}),
    ):
        there = {path.name for path in place.iterdir()} if place.is_dir() else set()
        found |= there - allowed
    for path in (folder / "repository").rglob("*"):
        if path.is_symlink():
            found.add(f"{path} is a link")
        elif path.is_file() and onnx_files.SECRET in path.read_bytes():
            found.add(f"{path} holds the secret")
    return found


if __name__ == "__main__":
    main()
