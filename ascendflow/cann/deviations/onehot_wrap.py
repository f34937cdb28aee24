"""OneHot: indices out of range wrap.

Since the kernel takes no negative index, the parser inserts Add(depth) and Mod(depth) in
front of it. That is right from -depth to depth - 1. Above, an index wraps to its remainder;
below -depth the remainder is C's, negative or 0. That a negative one still sets nothing is
inferred.

Source: canndev `onehot_plugin.cc`, 2022-06; ops-math `onehot_onnx_plugin.cpp`, 9.1.0 and
master; 8.1.RC1 `mod.py`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.integers import SIGNED, UNSIGNED, bounds
from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant


class OneHotWrap(NodeDeviation):
    """Indices that should set nothing and do."""

    name: ClassVar[str] = "onehot-wrap"
    op_types: ClassVar[frozenset[str]] = frozenset({"OneHot"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = "An index outside -depth to depth - 1 sets nothing."
    cann: ClassVar[str] = "Such an index wraps: index + depth, mod depth."
    cure: ClassVar[str | None] = "onehot-compare"
    source: ClassVar[str] = (
        "canndev onehot_plugin.cc 2022-06; ops-math onehot_onnx_plugin.cpp 9.1.0, master; "
        "CANN 8.1.RC1 mod.py"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "high")
    """Read at both ends: up to 6.0, and from 8.5 on."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Compare what the indices lie between with the depth."""
        indices, depth = node.inputs[0], constant(node.inputs[1])
        if depth is None:
            return Found(
                "indices may be out of range: the depth is not a constant", "silent"
            )
        length = int(depth.ravel()[0])
        if constant(indices) is None and (
            indices is None or indices.dtype not in SIGNED | UNSIGNED
        ):
            return Found(f"indices may be outside {-length} to {length - 1}", "silent")
        low, high = bounds(indices)
        if -length <= low and high < length:
            return Harmless(f"all indices are within {-length} to {length - 1}")
        return Found(f"indices outside {-length} to {length - 1} wrap", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Put the parser's Add and Mod in front; what stays negative sets nothing."""
        if isinstance(self.detect(node, conditions), Harmless):
            return
        chain = Chain(node)
        scalar = chain.constant("scalar", np.zeros(0, np.int64))
        depth = chain("Reshape", [_int64(chain, node.inputs[1]), scalar])
        moved = chain("Add", [_int64(chain, node.inputs[0]), depth])
        rest = chain("Mod", [moved, depth], {"fmod": 1})
        zero = chain.constant("zero", np.array(0, np.int64))
        index = chain("Where", [chain("Less", [rest, zero]), depth, rest])
        attributes = {"axis": node.attributes.get_int("axis", -1)}
        chain("OneHot", [index, *node.inputs[1:]], attributes)
        chain.put_in_place()


def _int64(chain: Chain, value: ir.Value | None) -> ir.Value:
    return chain("Cast", [value], {"to": ir.DataType.INT64})
