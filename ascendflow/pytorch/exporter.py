"""PyTorch -> an ONNX file, by torch's own exporters.

`dynamo` writes opset 18 and above. What it does itself for a lower one (conversion before
its optimiser has removed Identity nodes, for which ONNX's converter has no adapter) fails
often and silently, so the file is exported in 18 and converted afterwards, by
`graph.opset`; the golden stage holds the result to PyTorch.
"""

from __future__ import annotations

import traceback
import warnings
from typing import TYPE_CHECKING, Any

from ascendflow.factories import users_code
from ascendflow.pytorch.arrays import named_outputs
from ascendflow.pytorch.call import call_of
from ascendflow.pytorch.complaints import failure, tracer_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import torch

    from ascendflow.pytorch.call import Call

_OTHER_VALUES = (
    "where the model takes other values, tell them by the manifest's "
    "`export: {ranges: {INPUT: [LOW, HIGH]}}`; HIGH is not drawn"
)
DYNAMO_FLOOR = 18
"""The lowest opset dynamo's operator library is written in."""


def export(  # noqa: PLR0913  those behind the star by name
    model: torch.nn.Module,
    feeds: Mapping[str, np.ndarray],
    target: Path,
    *,
    exporter: str,
    opset: int,
    opened: Mapping[str, Sequence[int]] | None = None,
    drawn: str = "",
) -> list[str]:
    """Write `target`, traced on `feeds`.

    Inputs bear the names of `feeds`, outputs those that `named_outputs` gives.

    Args:
        model: in inference mode, on the CPU.
        feeds: one example of each input; shapes are what the file is written for. A size
            that stays open must be 2 or more: torch takes 1 for one that is meant.
        target: the ONNX file; dynamo puts weights beside it.
        exporter: "dynamo" or "torchscript".
        opset: what is wanted; dynamo's file may be in a higher one.
        opened: input -> its sizes that stay open; absent: none does.
        drawn: where the values of `feeds` come from, for messages.

    Returns:
        What to know of the file: that inputs were taken by position, and what the tracer
        warned of, e.g. that it took a branch for good.

    Raises:
        StageError: the inputs do not fit, or the model or the exporter raises.
    """
    import torch

    call = call_of(model, tuple(feeds))
    positional, named = call.arguments(feeds)
    occasion = f"run once on inputs drawn at random, not on your samples ({drawn})"
    with users_code("the model", occasion, _hint(feeds), ("inputs",)), torch.no_grad():
        outputs = named_outputs(model(*positional, **named), taken=feeds)
    # The model may have changed its inputs in place.
    positional, named = call.arguments(feeds)
    options: dict[str, Any] = {
        "kwargs": named,
        "input_names": list(call.order),
        "output_names": list(outputs),
        "opset_version": opset,
    }
    run, dynamic = _EXPORTERS[exporter]
    if opened:
        options |= dynamic(model, call, opened)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run(model, positional, target, options)
        except Exception as error:
            traceback.print_exc()
            raise failure(exporter, error) from error
    return [*([call.note] if call.note else []), *tracer_warnings(caught)]


def _hint(feeds: Mapping[str, np.ndarray]) -> str:
    """Say what forward() got; other values only where integers may be bad indices."""
    given = ", ".join(f"{n} {a.dtype.name} {list(a.shape)}" for n, a in feeds.items())
    hint = (
        f"it was given {given}: where the model takes another shape or dtype, change the "
        "manifest's `inputs`; else mend that line"
    )
    has_integers = any(array.dtype.kind in "iu" for array in feeds.values())
    return f"{hint}; {_OTHER_VALUES}" if has_integers else hint


def _dynamic_shapes(
    model: torch.nn.Module, call: Call, opened: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Say which sizes stay open, as torch.export is told: by forward()'s parameters."""
    from torch.export import Dim

    sizes = call.by_parameter(
        model, lambda name: dict.fromkeys(opened.get(name, ()), Dim.DYNAMIC)
    )
    return {"dynamic_shapes": sizes}


def _dynamic_axes(
    _model: torch.nn.Module, _call: Call, opened: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Say which sizes stay open, as the tracer is told: by the file's inputs."""
    axes = {
        name: {index: f"{name}.{index}" for index in indexes}
        for name, indexes in opened.items()
    }
    return {"dynamic_axes": axes}


def _dynamo(
    model: torch.nn.Module,
    positional: tuple[torch.Tensor, ...],
    target: Path,
    options: dict[str, Any],
) -> None:
    import torch

    opset = max(options["opset_version"], DYNAMO_FLOOR)
    program = torch.onnx.export(
        model, positional, dynamo=True, verbose=False, **{**options, "opset_version": opset}
    )
    assert program is not None  # noqa: S101 - dynamo=True returns a program; for mypy
    program.save(str(target), external_data=True)


def _torchscript(
    model: torch.nn.Module,
    positional: tuple[torch.Tensor, ...],
    target: Path,
    options: dict[str, Any],
) -> None:
    import torch

    # In eval mode attention takes a fused operator, which this exporter does not know.
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        # Only verbose=True keeps source lines in the file; it prints the graph to the log.
        torch.onnx.export(
            model, positional, str(target), dynamo=False, verbose=True, **options
        )
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


_EXPORTERS = {
    "dynamo": (_dynamo, _dynamic_shapes),
    "torchscript": (_torchscript, _dynamic_axes),
}
"""Name -> (what writes the file, what tells it of open sizes)."""
