"""Pad, Slice and Unsqueeze in the form that each opset spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    from ascendflow.graph.edit import Chain
    from ascendflow.graph.windows import Pads

SPATIAL = 2
"""The first spatial axis: N and C come before it."""
AXES_ARE_AN_INPUT_SINCE = 13
"""The opset from which on Squeeze and Unsqueeze have no attribute `axes`."""


def padded(chain: Chain, value: ir.Value, pads: Pads, number: np.ndarray) -> ir.Value:
    """Append a Pad of the spatial axes with `number`, which has the type of `value`."""
    amounts = [0, 0, *pads.heads, 0, 0, *pads.tails]
    if chain.opset < 11:
        return chain("Pad", [value], {"pads": amounts, "value": float(number)})
    constants = [
        chain.constant("pads", np.array(amounts, np.int64)),
        chain.constant("padding", number),
    ]
    return chain("Pad", [value, *constants])


class Cut(NamedTuple):
    """What to take of one axis: every `step`th place from `start` until before `end`."""

    axis: int
    start: int
    end: int
    step: int = 1


def sliced(chain: Chain, value: ir.Value, cuts: Sequence[Cut]) -> ir.Value:
    """Append a Slice; steps other than 1 need opset 10."""
    axes, starts, ends, steps = (list(numbers) for numbers in zip(*cuts, strict=True))
    lists = {"starts": starts, "ends": ends, "axes": axes}
    if chain.opset < 10:
        assert set(steps) == {1}  # noqa: S101, what has steps is of opset 10
        return chain("Slice", [value], lists)
    lists["steps"] = steps
    constants = [chain.constant(k, np.array(v, np.int64)) for k, v in lists.items()]
    return chain("Slice", [value, *constants])


def unsqueezed(chain: Chain, value: ir.Value, axis: int) -> ir.Value:
    """Append an Unsqueeze: a new axis of length 1."""
    if chain.opset < AXES_ARE_AN_INPUT_SINCE:
        return chain("Unsqueeze", [value], {"axes": [axis]})
    axes = chain.constant("axes", np.array([axis], np.int64))
    return chain("Unsqueeze", [value, axes])
