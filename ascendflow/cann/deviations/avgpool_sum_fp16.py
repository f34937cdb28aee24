"""AveragePool: the sum is an fp16 number before it is divided.

AvgPoolV2 is a convolution with ones, whose fp32 sum is stored as fp16; what it is divided
by is the number of elements below the window, where padding does not count. So a window
whose sum leaves fp16's range is lost, though its mean may be small. Up to 6.0, and on 310
later too, the sum is multiplied by fp16(1 / n).

Not computed: that each value is rounded twice, once as a sum; the second rounding is no
larger than the first.

Where padding counts, or auto_pad is VALID, the weights are 1 / n up to 6.0, and nothing
overflows; 8.1 has a kernel for shapes that are not fixed that sums there first too. Which
one a release takes is not known, so no overflow is computed. Nor is it where the window is
the whole input and nothing is padded, for which another kernel is taken that was not read,
where ceil_mode adds a window in the padding, of windows too big for the matrix unit, of
volumes, of shapes that are not fixed, and in opset 8.

Sources: canndev `avg_pool_v2_fusion_pass.cc`, `average_pool_plugin.cc`, 2022-06; CANN
8.1.RC1 `dynamic/avg_pool_v2.py`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ascendflow.cann import ceil_mode
from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.rounding import round_to_half
from ascendflow.graph.big_windows import is_big
from ascendflow.graph.edit import Chain, attributes_of
from ascendflow.graph.matrices import bound
from ascendflow.graph.windows import VOLUME, Window, counts_padding, lengths_of, read_window
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import onnx_ir as ir

_INFINITE = 65520.0
"""What is as large as this is infinite in fp16."""
_HAS_WHERE = 9


class _Sum(NamedTuple):
    """A pool that sums first: its window, and the lengths of what it reads."""

    window: Window
    lengths: tuple[int, ...]


class AveragePoolSum(NodeDeviation):
    """A mean whose sum may overflow."""

    name: ClassVar[str] = "avgpool-sum-fp16"
    op_types: ClassVar[frozenset[str]] = frozenset({"AveragePool"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision",)
    onnx: ClassVar[str] = "The mean of a window is no larger than its largest element."
    cann: ClassVar[str] = (
        "Where padding does not count, the sum of a window is stored as fp16 before it is "
        "divided: beyond +-65504 it saturates, or is infinite on 910B and 910_93."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = "scale what it reads down by a power of two"
    source: ClassVar[str] = (
        "canndev avg_pool_v2_fusion_pass.cc 2022-06; CANN 8.1.RC1 dynamic/avg_pool_v2.py"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "medium")
    """The pass was read up to 6.0, one of two kernels of 8.1."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Hold the input's bound against the window, where the graph tells one."""
        found = _summed(node, conditions)
        if found is None:
            return Harmless("no sum in fp16 that was read")
        limit, number = bound(node.inputs[0]), prod(found.window.kernel)
        if limit is None or limit * number <= HALF_MAX:
            return Harmless("its sums are not known to leave fp16's range")
        return Found(
            f"|inputs| reach {limit:g} and sums of {number} of them {limit * number:g}",
            "precision",
        )

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Bound each mean by what an fp16 sum can give."""
        found = _summed(node, conditions)
        if found is None:
            return
        chain, shares = Chain(node), 1 / _areas(found)
        if conditions.profile.is_read or conditions.soc.family == "ascend310":
            shares = round_to_half(shares, conditions.soc.overflow)
        attributes = attributes_of(node)
        if found.window.is_same:
            attributes["auto_pad"] = found.window.auto_pad
        mean = chain(node.op_type, [node.inputs[0]], attributes)
        if conditions.soc.overflow == "saturate":
            highest = (HALF_MAX * shares).astype(np.float32)
            mean = chain("Min", [mean, chain.constant("highest", highest)])
            chain("Max", [mean, chain.constant("lowest", -highest)])
        else:
            infinite = chain.constant("infinite", (_INFINITE * shares).astype(np.float32))
            fits = chain("Less", [chain("Abs", [mean]), infinite])
            beyond = chain("Mul", [mean, chain.constant("inf", np.float32(np.inf))])
            chain("Where", [fits, mean, beyond])
        chain.put_in_place()


def _summed(node: ir.Node, conditions: Conditions) -> _Sum | None:
    """Return what is known of a pool that sums in fp16, None where it is not one."""
    window, lengths = read_window(node), lengths_of(node)
    if window is None or lengths is None or not conditions.half:
        return None
    if counts_padding(node) or window.auto_pad == "VALID":
        return None
    if window.rank == VOLUME or is_big(window) or (node.version or 0) < _HAS_WHERE:
        return None
    if window.is_same:
        window = replace(window, auto_pad="SAME_UPPER")
        if min(window.totals_for(lengths)) < 0:
            return None
    elif window.ceil and ceil_mode.outputs(window, lengths) != window.outputs_for(lengths):
        return None
    is_whole = window.kernel == lengths and not window.pads_for(lengths)
    return None if is_whole else _Sum(window, lengths)


def _areas(found: _Sum) -> np.ndarray:
    """Count the elements below each window, at least 1: 1, 1, outputs."""
    areas = np.ones((1, 1), np.float32)
    axes = zip(
        found.window.outputs_for(found.lengths),
        found.window.strides,
        found.window.kernel,
        found.lengths,
        found.window.pads_for(found.lengths).heads,
        strict=True,
    )
    for count, stride, kernel, length, head in axes:
        begins = np.arange(count) * stride - head
        below = np.minimum(begins + kernel, length) - np.maximum(begins, 0)
        areas = areas[..., None] * np.maximum(below, 0).astype(np.float32)
    return np.maximum(areas, 1)
