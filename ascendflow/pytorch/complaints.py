"""What torch's exporters say, in words that lead to the line to change.

Their own errors begin with general advice, coloured for a terminal, and name the cause
last; their warnings do not say what became of the model.
"""

from __future__ import annotations

import re
from traceback import walk_tb
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.factories import users_file, users_line
from ascendflow.pytorch.origins import stack_frames
from ascendflow.terminal import uncoloured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from warnings import WarningMessage

_DATA_DEPENDENT = re.compile(r"data.?dependent", re.IGNORECASE)
_FROZEN = (
    ("Python boolean", "the graph has only the branch that one run on random inputs took"),
    ("as a constant", "the graph has only the value of one run on random inputs"),
)
"""Part of a TracerWarning -> what it means for the file."""
_UNTOLD = re.compile(
    r"No ONNX function found for <OpOverload\(op='([^']+)'"
    r"|Exporting the operator '([^']+)' to ONNX opset version \d+ is not supported"
)
"""How dynamo, and how TorchScript, says which operator it has no ONNX for."""
_FIXED = re.compile(
    r"inferred a static shape of (\d+) for dimension inputs\['([^']*)'\]\.shape\[(\d+)\]"
)
"""How torch.export says that a size which was to stay open cannot."""
_SIZES = (
    "its code has a number where a size belongs: take sizes from the input's shape there, "
    "or fix this one in convert.input_shape"
)
_REWRITE = (
    "what is computed depends on a tensor's values here: rewrite the branch with "
    "torch.where or torch.cond, a number from a tensor as one from its shape "
    "(exporter: torchscript is no way out, it freezes the branch of one run)"
)


def failure(exporter: str, error: Exception) -> StageError:
    """Say why an exporter failed: the innermost cause, and the user's line it names.

    Args:
        exporter: "dynamo" or "torchscript".
        error: as the exporter raised it.
    """
    causes = list(_causes(error))
    cause = causes[-1]
    lines = (users_line(each) for each in reversed(causes))
    line = next((line for line in lines if line is not None), None) or _node_line(causes)
    at = f" at {line}" if line is not None else ""
    what = f"{type(cause).__name__}: {_first_line(cause)}"
    other = "torchscript" if exporter == "dynamo" else "dynamo"
    if fixed := _FIXED.findall(str(cause)):
        what = "; ".join(
            f"convert leaves size {index} of {name!r} open, and the model takes {length} "
            "there alone"
            for length, name, index in fixed
        )
        hint = _SIZES
    elif any(_DATA_DEPENDENT.search(f"{type(e).__name__} {e}") for e in causes):
        hint = _REWRITE
    elif untold := _UNTOLD.search(str(cause)):
        operator = untold[1] or untold[2]
        what = f"it has no ONNX for {operator}"
        knows_more = f", or try export.exporter: {other}, which knows more operators"
        hint = f"write {operator} in other operators{knows_more * (other == 'dynamo')}"
    else:
        hint = f"the stage's log has all of it; try export.exporter: {other}"
    return StageError(f"torch's {exporter} exporter failed{at}: {what}", hint=hint)


def _node_line(causes: Sequence[BaseException]) -> str | None:
    """Name the user's line that made the node which an exporter stumbled over.

    Translating a graph runs no code of the user's, so the error passed none of it; the
    exporter's frames hold the node, and that its stack.
    """
    for error in reversed(causes):
        for frame, _ in reversed(list(walk_tb(error.__traceback__))):
            node = frame.f_locals.get("node")
            source_range = getattr(node, "sourceRange", str)  # TorchScript's
            stack = getattr(node, "stack_trace", None) or source_range()  # dynamo's
            for path, line in stack_frames(stack):
                if (file := users_file(path)) is not None:
                    return f"{file}:{line}"
    return None


def tracer_warnings(caught: Iterable[WarningMessage]) -> list[str]:
    """Say what the tracer took for good, and where, each once and in order."""
    said = {
        f"{_place(each)}{_meaning(str(each.message))}"
        for each in caught
        if each.category.__name__ == "TracerWarning"
    }
    return sorted(said)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, innermost last."""
    while error is not None:
        yield error
        error = error.__cause__


def _first_line(error: BaseException) -> str:
    return uncoloured(str(error)).strip().partition("\n")[0].strip()


def _place(warning: WarningMessage) -> str:
    file = users_file(warning.filename)
    return f"{file}:{warning.lineno}: " if file is not None else ""


def _meaning(message: str) -> str:
    plain = uncoloured(message)
    for part, meaning in _FROZEN:
        if part in plain:
            return f"{meaning}, for all inputs (torch: {plain.partition('. ')[0]})"
    return plain
