"""A file as it was delivered, or as a pipeline simplifies it: options, model and note."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.errors import StageError
from ascendflow.tasks.commands.options import SHAPE, switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.graph.fixed_shapes import Shapes
    from ascendflow.report.lint_text import Looked

DELIVERED = (
    "this is the file as delivered; a pipeline first fixes the shapes, folds constants and"
    " fuses, which can change findings and names"
)
SIMPLIFIED = (
    "this is the model as a pipeline simplifies it, with the names that nodes have then"
)
MADE = "this is what the rules of a pipeline left, which it converts"
MADE_AS = ("rewrite", "rewritten", "model.onnx")
AS_IS = "without --simplify the file is looked at as it is"
OPTIONS: tuple[dict[str, Any], ...] = (
    SHAPE,
    switch(
        "simplify",
        "do first what a pipeline does before its rules: fix the shapes, fold constants,"
        " fuse; names are those of the simplified model",
    ),
)


class RefusedError(StageError):
    """What a pipeline refuses before it simplifies it, though it can be read."""

    exit_code: ClassVar[int] = 1


@contextmanager
def simplified(path: Path, shapes: Shapes) -> Iterator[Path]:
    """Give the file `path` as a pipeline simplifies it, for as long as it is looked at.

    Raises:
        RefusedError: a pipeline would refuse the file.
        StageError: nothing can use the file; the same is told without simplifying.
        UsageError: `shapes` are not those of its inputs.
    """
    from ascendflow.graph.fixed_shapes import wanted_inputs
    from ascendflow.graph.ingest import read_model
    from ascendflow.graph.simplified import simplify_delivered
    from ascendflow.graph.soundness import load_sound

    inputs = wanted_inputs(path, read_model(path), shapes)
    with TemporaryDirectory(prefix="ascendflow-simplified-") as folder:
        try:
            made = simplify_delivered(path, Path(folder), inputs)
        except StageError as error:
            load_sound(path)
            raise RefusedError(f"a pipeline refuses {error.message}", hint=AS_IS) from error
        yield made


def looked(path: Path, shapes: Shapes, *, is_simplified: bool, verb: str) -> Looked:
    """Say which model was looked at, and how to see what a pipeline makes of a file.

    Args:
        path: the file.
        shapes: those that were given.
        is_simplified: whether it was the simplified one.
        verb: what the command does to a model.
    """
    from ascendflow.graph.io_spec import inputs_of
    from ascendflow.graph.structure import read_structure
    from ascendflow.report.lint_text import Looked

    given = " ".join(
        f"--shape {name}:{','.join(map(str, sizes))}" for name, sizes in shapes.items()
    )
    if is_simplified:
        return Looked(SIMPLIFIED, shapes=given)
    if path.resolve().parts[-3:] == MADE_AS:
        return Looked(MADE, is_made=True)
    asked, is_open = ["--simplify"], False
    for each in inputs_of(read_structure(path).model):
        sizes = shapes.get(each.name, each.shape)
        if sizes is None or not all(isinstance(size, int) for size in sizes):
            spelled = (str(size) if isinstance(size, int) else "?" for size in sizes or ())
            asked.append(f"--shape {each.name}:{','.join(spelled) or '?'}")
            is_open = True
    again = " ".join(asked)
    return Looked(f"{DELIVERED}; to {verb} that, add {again}", again, is_open, shapes=given)
