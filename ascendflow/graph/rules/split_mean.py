"""A mean of many elements -> a mean of means: over W and then H, or over parts of one axis.

On 310 and 310B means of fp16 data are added up in fp16 (high_performance, which is the
default). A sum that has grown large swallows what is added to it: of 4096 elements a tenth
may be lost. Sums of 64 elements, and of 64 such means, stay small.

Elsewhere the sum is fp32 and nothing is gained.

Source: 8.1.RC1 `dynamic/reduce_mean.py`, `dynamic/reduce_mean_d.py`, `impl_mode/*.ini`.
"""

from __future__ import annotations

from math import isqrt, prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.reductions import reduced_axes, reduced_lengths
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

_WORTH_IT = 64
"""Fewer elements lose little more than their own rounding."""
_AXES_ARE_INPUTS = 18
"""The opset from which ReduceMean takes its axes as an input."""


class SplitMean(Rule):
    """Add up no more than about the square root of the elements at a time."""

    name: ClassVar[str] = "split-mean"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"GlobalAveragePool", "ReduceMean"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Split one mean.

        Args:
            node: a node whose `op_type` is in `op_types`.

        Yields:
            One `Applied` or one `Skipped`, never both.
        """
        found = _reduced(node)
        if isinstance(found, str):
            yield Skipped(node, found)
            return
        axes, lengths = found
        number = prod(lengths)
        long = [axis for axis, n in zip(axes, lengths, strict=True) if n > 1]
        if number < _WORTH_IT:
            yield Skipped(node, f"it is a mean of {number} elements only")
        elif len(long) > 1:
            _axis_by_axis(node, axes, long)
            yield Applied(node, before={"axes": axes}, after={"axes": [[a] for a in long]})
        elif isinstance(parts := _parts(node, long[0]), str):
            yield Skipped(node, parts)
        else:
            _in_parts(node, axes, long[0], parts)
            yield Applied(node, before={"lengths": [number]}, after={"lengths": parts})


def _reduced(node: ir.Node) -> tuple[list[int], list[int]] | str:
    """Return the axes that are reduced and their lengths, or why they are not known."""
    import onnx_ir as ir

    value = node.inputs[0]
    if value is None or value.shape is None:
        return "the rank of its input is not known"
    if value.dtype not in {ir.DataType.FLOAT, ir.DataType.FLOAT16}:
        return "its input is no float"
    axes = reduced_axes(node)
    if axes is None:
        return "its axes are no constant within its rank"
    if not axes:
        return "it reduces nothing"
    lengths = [n for n in reduced_lengths(node, axes) if isinstance(n, int)]
    if len(lengths) < len(axes):
        return "an axis that it reduces is dynamic"
    return axes, lengths


def _parts(node: ir.Node, axis: int) -> list[int] | str:
    """Return the two lengths that an axis is split into, or why it cannot be."""
    value = node.inputs[0]
    assert value is not None  # noqa: S101, `_reduced` has seen it
    assert value.shape is not None  # noqa: S101
    length = value.shape[axis]
    assert isinstance(length, int)  # noqa: S101
    after = list(value.shape)[axis + 1 :]
    if sum(not isinstance(n, int) for n in after) > 1:
        return "two axes behind the one that it reduces are dynamic"
    short = next(n for n in range(isqrt(length), 0, -1) if length % n == 0)
    if short * short < length // 16:
        return f"{length} has no two factors of about the same size"
    return [short, length // short]


def _axis_by_axis(node: ir.Node, axes: Sequence[int], long: Sequence[int]) -> None:
    """Reduce the last axis, then the one before, keeping each as an axis of 1."""
    chain = Chain(node)
    value = node.inputs[0]
    for axis in reversed(long):
        value = _mean(chain, node, value, axis, keep=True)
    _drop(chain, node, value, axes)


def _in_parts(node: ir.Node, axes: Sequence[int], axis: int, parts: list[int]) -> None:
    """Split one axis into two, reduce the second, then the first."""
    chain = Chain(node)
    value = node.inputs[0]
    assert value is not None  # noqa: S101, `_parts` has seen it
    assert value.shape is not None  # noqa: S101
    after = [n if isinstance(n, int) else -1 for n in list(value.shape)[axis + 1 :]]
    shape = np.array([0] * axis + parts + after, np.int64)  # 0 keeps a length
    split = chain("Reshape", [value, chain.constant("parts", shape)])
    inner = _mean(chain, node, split, axis + 1, keep=False)
    _drop(chain, node, _mean(chain, node, inner, axis, keep=True), axes)


def _mean(
    chain: Chain, node: ir.Node, value: ir.Value | None, axis: int, *, keep: bool
) -> ir.Value:
    if (node.version or 0) >= _AXES_ARE_INPUTS:
        axes = chain.constant("axis", np.array([axis], np.int64))
        return chain("ReduceMean", [value, axes], {"keepdims": int(keep)})
    return chain("ReduceMean", [value], {"axes": [axis], "keepdims": int(keep)})


def _drop(chain: Chain, node: ir.Node, value: ir.Value | None, axes: Sequence[int]) -> None:
    """Put the chain in place, without the reduced axes where the node kept none."""
    if node.op_type == "ReduceMean" and not node.attributes.get_int("keepdims", 1):
        if (node.version or 0) >= 13:
            gone = chain.constant("gone", np.array(axes, np.int64))
            chain("Squeeze", [value, gone])
        else:
            chain("Squeeze", [value], {"axes": list(axes)})
    chain.put_in_place()
