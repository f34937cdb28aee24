"""Reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.deviating.case import NEW, OLD, ON_310, Case, Cases, one
from tests.models import mean

if TYPE_CHECKING:
    import onnx


def reduced(op_type: str, opset: int, axes: list[int] | None) -> onnx.ModelProto:
    """Reduce x over `axes`, given as input; without, over nothing."""
    constants = {} if axes is None else {"axes": np.array(axes)}
    noop: dict[str, Any] = {} if axes else {"noop_with_empty_axes": 1}
    return one(op_type, ["x", *constants], constants, x=(2, 3, 5), opset=opset, **noop)


_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip


def reductions() -> Cases:
    """Give the cases of reductions."""
    axes = {
        ("reduce-axes-input", name): [Case(reduced(name, 18, [1, 2]), NEW)]
        for name in _REDUCTIONS
        if name not in {"ReduceL1", "ReduceL2", "ReduceSum"}
    }
    axes["reduce-axes-input", "ReduceSum"] = [Case(reduced("ReduceSum", 13, [1]), OLD)]
    noop = {
        ("reduce-noop", name): [Case(reduced(name, 18, None), NEW)] for name in _REDUCTIONS
    }
    norms = {
        ("reduce-norm-unregistered", name): [Case(reduced(name, 18, [1]), NEW)]
        for name in ("ReduceL1", "ReduceL2")
    }
    means = {
        ("reducemean-fp16-acc", "ReduceMean"): [Case(mean((2, 4096), [1]), ON_310)],
        ("reducemean-fp16-acc", "GlobalAveragePool"): [
            Case(one("GlobalAveragePool", ["x"], x=(1, 2, 64, 64)), ON_310)
        ],
    }
    return {**axes, **noop, **norms, **means}
