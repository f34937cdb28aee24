"""samples: feeds and labels, made once, checked once, and read by every later stage."""

from __future__ import annotations

import glob
import os
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ascendflow.errors import StageError
from ascendflow.factories import load_factory, users_code
from ascendflow.stages.pictures import FOLDER, Pictures
from ascendflow.stages.problem_list import ProblemList
from ascendflow.stages.random_samples import random_samples
from ascendflow.stages.sample_checks import (
    Unlike,
    is_mapping,
    sample_problems,
    unknown_feeds,
    why_bad_id,
)
from ascendflow.stages.sample_shapes import HINT as UNSEEN_HINT
from ascendflow.stages.sample_shapes import SampleShapes
from ascendflow.tensors import TensorSpec, TensorWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ascendflow.stages.stage import StageContext

LABEL_PREFIX = "label."
OR_INPUT = "if it is an input of the model, name it under `inputs` in the manifest"
RULE = (
    "feeds must match the manifest's inputs exactly, nothing is cast; and those must be "
    "what the model takes"
)
LABEL_HINTS = {
    "factory": f'if {{name!r}} is a label, give it under "labels", not "feeds"; {OR_INPUT}',
    "files": f"if {{name!r}} is a label, name it '{LABEL_PREFIX}{{name}}' in the file; "
    f"{OR_INPUT}",
}
"""What to do with an array that is no input, by where it came from."""


class _Words(NamedTuple):
    """What the samples come from, what to do with a label, and what where there is none."""

    what: str
    label_hint: str
    empty_hint: str


class Samples:
    """Materialise the samples of a factory, of files, or of a random generator."""

    name: ClassVar[str] = "samples"
    consumes: ClassVar[frozenset[str]] = frozenset()
    produces: ClassVar[frozenset[str]] = frozenset({"samples"})
    computes_floats: ClassVar[bool] = False
    runs_user_code: ClassVar[bool] = True

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what makes arrays; a factory's own imports are found as it runs."""
        del config
        return ("numpy",)

    def run(self, ctx: StageContext) -> None:
        """Write the tensor sets `samples/feeds` and `samples/labels`, of the same ids.

        Where the target prepares pictures, those are in `samples/pictures`, and `feeds`
        holds what the model gets.

        Samples are taken one at a time, so a set may be larger than memory.

        Raises:
            StageError: there is no sample, or some are not what the manifest's inputs
                say; the problems are listed by sample id.
        """
        specs = ctx.config["inputs"]
        inputs = tuple(TensorSpec(i["name"], i["dtype"], tuple(i["shape"])) for i in specs)
        shapes = ctx.config.get("shapes", ())
        pictures = Pictures(ctx.config.get("aipp") or {}, inputs)
        source = ctx.config["samples"]
        if "factory" in source:
            what, samples = _from_factory(ctx.folder, source)
        elif "files" in source:
            root, colon, pattern = source["files"].rpartition(":")
            base = ctx.roots[root] if colon else ctx.folder
            what, samples = source["files"], _from_files(base, pattern)
        else:
            what = "random"
            samples = random_samples(pictures, source["random"], shapes)
            ctx.findings.warnings.append(
                "random inputs: what is measured on them says little about real data"
            )
        label_hint = next((LABEL_HINTS[k] for k in LABEL_HINTS if k in source), "")
        written = _write(
            samples,
            pictures,
            ctx.outputs["samples"],
            _Words(what, label_hint, _how_to_give_one(ctx, source, inputs[0].name)),
            SampleShapes(pictures.shapes(shapes)) if shapes else None,
        )
        ctx.findings.facts["samples"] = written


def _how_to_give_one(ctx: StageContext, source: Mapping[str, Any], fed: str) -> str:
    if "files" not in source:
        return "an empty set proves nothing: it must yield one at least"
    root, colon, pattern = source["files"].rpartition(":")
    where = f"the root {root!r}" if colon else f"pipelines/{ctx.folder.name}"
    call = "np.savez(path, **arrays)"
    if fed.isidentifier():
        call = f"np.savez({re.sub(r'[*]+', 'first', pattern)!r}, {fed}=array)"
    return f"no file in {where} matches; write one there for each sample: {call}"


def _write(
    samples: Iterable[Any],
    pictures: Pictures,
    folder: Path,
    words: _Words,
    shapes: SampleShapes | None,
) -> int:
    """Check and write sample after sample; return how many there were.

    Once one is wrong, nothing more is written, but the rest is still checked.
    """
    problems = ProblemList()
    seen: set[str] = set()
    unknown: dict[str, None] = {}
    inputs = pictures.fed
    folder.mkdir()
    with ExitStack() as stack:
        kinds = ("feeds", "labels", *([FOLDER] if pictures.aipp else []))
        writers = [stack.enter_context(TensorWriter(folder / kind)) for kind in kinds]
        for number, sample in enumerate(samples):
            name = _called(number, sample, seen)
            problems.add(name, _problems(sample, inputs, seen, shapes))
            unknown.update(dict.fromkeys(unknown_feeds(sample, inputs)))
            if problems.full:
                break
            if not problems:
                fed = sample["feeds"]
                sets = (pictures.prepared(fed), sample.get("labels", {}), pictures.of(fed))
                for writer, tensors in zip(writers, sets, strict=False):
                    writer.write(sample["id"], tensors)
        unseen = shapes.unseen() if shapes is not None and seen else []
        labels = [words.label_hint.format(name=name) for name in unknown]
        _refuse(problems, unseen, words.what, labels)
        if not seen:
            message = f"{words.what} gives no sample"
            raise StageError(message, hint=words.empty_hint, keys=("samples",))
    return len(seen)


def _called(number: int, sample: Any, seen: set[str]) -> str:
    """Return what tells a sample from all others: its id, if that does."""
    sample_id = sample.get("id") if is_mapping(sample) else None
    if why_bad_id(sample_id, seen) is None:
        return repr(sample_id)
    return f"number {number}" + (f" ({sample_id!r})" if sample_id is not None else "")


def _problems(
    sample: Any,
    inputs: Sequence[TensorSpec],
    seen: set[str],
    shapes: SampleShapes | None,
) -> Iterator[str]:
    """Say what is wrong with one sample, and note its id."""
    if not is_mapping(sample):
        yield f'is a {type(sample).__name__}, not a mapping {{"id", "feeds", "labels"}}'
        return
    sample_id = sample.get("id")
    if (reason := why_bad_id(sample_id, seen)) is not None:
        yield reason
    if isinstance(sample_id, str):
        seen.add(sample_id)
    yield from sample_problems(sample, inputs, shapes)


def _refuse(
    problems: ProblemList, unseen: Sequence[str], what: str, label_hints: Iterable[str]
) -> None:
    told = [problems.message()] if problems else []
    hints = list(label_hints)
    if any(isinstance(kind, Unlike) for kind in problems.kinds):
        hints.insert(0, RULE)
    if unseen and not problems.full:
        told.append(f"no sample has the shapes {'; nor '.join(unseen)}")
        hints.append(UNSEEN_HINT)
    if told:
        message = f"{what}: " + "\n  ".join(told)
        keys = ("inputs",) if hints else ()
        raise StageError(message, hint="; ".join(hints) or None, keys=keys)


def _from_factory(folder: Path, source: Mapping[str, Any]) -> tuple[str, Iterator[Any]]:
    """Return what the user's factory yields, errors in it said as theirs."""
    where = f"{source['module']}:{source['factory']}"
    factory = load_factory(folder, source["module"], source["factory"])

    def iterate() -> Iterator[Any]:
        with users_code(where):
            made = factory(**(source.get("arguments") or {}))
            if is_mapping(made) or not hasattr(made, "__iter__"):
                raise StageError(
                    f"{where} returned a {type(made).__name__}, not an iterable of samples",
                    hint='yield {"id": ..., "feeds": {...}, "labels": {...}} each time',
                )
        iterator = iter(made)
        while True:
            with users_code(where):
                try:
                    sample = next(iterator)
                except StopIteration:
                    return
            yield sample

    return where, iterate()


def _from_files(folder: Path, pattern: str) -> Iterator[Any]:
    """Yield one sample per .npz file, in the order of their paths."""
    found = glob.glob(pattern, root_dir=folder, recursive=True)
    for name in sorted(map(os.path.normpath, found)):
        try:
            arrays = _arrays(folder / name)
        except Exception as error:  # of zipfile, zlib, tokenize, numpy: no list is whole
            raise StageError(
                f"{name} is not a readable .npz file of plain arrays: {error}",
                hint="write it with np.savez(path, **arrays)",
            ) from error
        labels = {
            k.removeprefix(LABEL_PREFIX): v for k, v in arrays.items() if _is_label(k)
        }
        feeds = {k: v for k, v in arrays.items() if not _is_label(k)}
        yield {"id": name.removesuffix(".npz"), "feeds": feeds, "labels": labels}


def _arrays(path: Path) -> dict[str, Any]:
    """Read all arrays of an .npz file by name.

    Raises:
        Exception: whatever numpy and zipfile raise where it is none.
        TypeError: it is an .npy file.
        ValueError: two of its arrays have one name.
    """
    import numpy as np

    with open(path, "rb") as opened:
        file = np.load(opened, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise TypeError("it holds one array without a name, as np.save writes it")
        with file:
            if twice := sorted({key for key in file.files if file.files.count(key) > 1}):
                raise ValueError(f"it holds two arrays called {twice[0]!r}")
            return {key: file[key] for key in file.files}


def _is_label(key: str) -> bool:
    return key.startswith(LABEL_PREFIX)
