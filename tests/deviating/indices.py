"""Nodes that say where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.deviating.case import INT64, OLD, Case, Cases, one
from tests.models import F32, model, node

if TYPE_CHECKING:
    import onnx


def arg(op_type: str, *, last: int = 0) -> onnx.ModelProto:
    """Make where the extreme of each row is."""
    return one(op_type, ["x"], axis=-1, select_last_index=last)


def topk() -> onnx.ModelProto:
    """Make indices that an int64 is added to."""
    nodes = [
        node("TopK", ["x", "k"], ["v", "i"], name="n"),
        node("Add", ["i", "one"], ["y"]),
    ]
    constants = {"k": np.array([2]), "one": np.array(1)}
    return model(nodes, [("x", [2, 4])], [("v", [2, 2]), ("y", [2, 2], INT64)], constants)


def concatenated() -> onnx.ModelProto:
    """Make x, nothing of x, x."""
    nodes = [
        node("Slice", ["x", "at", "at"], ["cut"], name="n"),
        node("Concat", ["x", "cut", "x"], ["y"], axis=0),
    ]
    return model(nodes, [("x", [2, 4])], [("y", [4, 4])], {"at": np.array([1])})


def indices() -> Cases:
    """Give those of nodes that say where."""
    rows = {"i": np.array([[1], [0]]), "u": np.ones((2, 4), F32)}
    places = {"i": np.array([[1, 0, 1, 0]]), "u": np.ones((1, 4), F32)}
    batched = {"i": np.array([[[2], [0]], [[1], [1]]])}
    hot = {"depth": np.array(4), "values": np.array([2, 7], F32)}
    pads = {"p": np.array([1, 2]), "a": np.array([1])}
    add: dict[str, Any] = {"opset": 18, "reduction": "add"}
    return {
        ("arg-int32", "ArgMax"): [Case(arg("ArgMax"), {})],
        ("arg-int32", "ArgMin"): [Case(arg("ArgMin"), {})],
        ("arg-last-index", "ArgMax"): [Case(arg("ArgMax", last=1), {})],
        ("arg-last-index", "ArgMin"): [Case(arg("ArgMin", last=1), {})],
        ("topk-int64", "TopK"): [Case(topk(), {})],
        ("empty-slice", "Slice"): [Case(concatenated(), {})],
        ("negative-gather", "Gather"): [
            Case(one("Gather", ["x", "i"], {"i": np.array([-1])}), {})
        ],
        ("gathernd-batch", "GatherND"): [
            Case(one("GatherND", ["x", "i"], batched, x=(2, 3, 4), batch_dims=1), OLD)
        ],
        ("pad-axes", "Pad"): [Case(one("Pad", ["x", "p", "", "a"], pads, opset=18), {})],
        ("scatternd-reduction", "ScatterND"): [
            Case(one("ScatterND", ["x", "i", "u"], rows, **add), {})
        ],
        ("scatterelements-reduction", "ScatterElements"): [
            Case(one("ScatterElements", ["x", "i", "u"], places, **add), {})
        ],
        ("onehot-wrap", "OneHot"): [
            Case(one("OneHot", ["x", "depth", "values"], hot, x=(9,), kind=INT64), {})
        ],
        ("mod-sign", "Mod"): [
            Case(one("Mod", ["x", "by"], {"by": np.array([3, -3])}, x=(2,), kind=INT64), {})
        ],
    }
