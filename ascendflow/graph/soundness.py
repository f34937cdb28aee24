"""Whether an ONNX file can be used at all: one answer for whoever takes one from a user."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import WHOLE
from ascendflow.graph.load import blaming, look, why_not_inferred
from ascendflow.graph.order import why_unordered
from ascendflow.graph.refusals import repeated_names, training_nodes
from ascendflow.graph.structure import read_structure
from ascendflow.graph.validity import why_against_the_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.graph.fixed_shapes import Shapes


def load_sound(path: Path, shapes: Shapes | None = None) -> ir.Model:
    """Read `path` as `load_to_look` does, and refuse what is no graph that can be run.

    Declared shapes may be wrong: a pipeline does not believe them.

    Args:
        path: the file.
        shapes: of inputs, by name, instead of what the file leaves open.

    Raises:
        StageError: `path` is no ONNX model, or one whose nodes are in no order, or have
            attributes or types that ONNX does not allow, or compute as in training.
        UsageError: `shapes` are not those of its inputs.
    """
    try:
        model, declared = look(path, shapes)
    except StageError as error:
        if problems := _repeated(path):
            raise StageError(f"{path.name}: {problems}") from error
        raise
    if not any(True for _ in model.graph):
        raise StageError(f"{path.name}: is no ONNX file: it holds no graph")
    # onnx-ir leaves sparse initializers out, so that what reads one seems to read nothing.
    if (reason := why_unordered(model)) is not None and why_against_the_rules(declared):
        raise StageError(f"{path.name}: {reason}")
    if (reason := why_not_inferred(declared)) is not None:
        raise StageError(f"{path.name}: breaks ONNX's rules: {reason}")
    if trains := "; ".join(training_nodes(declared)):
        raise StageError(f"{path.name}: {trains}")
    return model


@contextmanager
def looking_at(path: Path) -> Iterator[None]:
    """Take an error of the block for the file's fault, where it is: see `load.blaming`.

    Raises:
        StageError: it is, or external data that was asked for cannot be read.
    """
    try:
        with blaming(path):
            yield
    except OSError as error:
        where = error.filename or "its external data"
        reason = error.strerror or str(error)
        message = f"{path.name}: cannot read {where}: {reason}"
        raise StageError(message, hint=WHOLE) from error


def _repeated(path: Path) -> str:
    """Say which tensors have two origins, of which onnx-ir tells only one; or ""."""
    try:
        graph = read_structure(path).model.graph
    except Exception:  # noqa: BLE001, why it cannot be read is told already
        return ""
    return "; ".join(repeated_names(graph, frozenset()))
