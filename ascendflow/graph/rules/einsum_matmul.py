"""Einsum of two operands -> Transpose, Reshape, MatMul, Reshape, Transpose.

CANN has no AI Core kernel for Einsum. A pass of its own makes a batched MatMul of some
equations; what is left goes to AI CPU, and in fp16 both were reported to lose accuracy.
MatMul runs on the matrix unit, with fp32 sums.

Sources: canndev `einsum_plugin.cc`, `einsum_fusion_pass.cc`; 8.1.RC1
`aic-*-ops-info.json`; ModelZoo-PyTorch T2T-ViT.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.edit import Chain
from ascendflow.graph.equations import Equation, parse
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

Lengths = dict[str, "int | ir.SymbolicDim"]


class EinsumMatmul(Rule):
    """Spell a contraction as a matrix product."""

    name: ClassVar[str] = "einsum-matmul"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Einsum"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one Einsum."""
        text = node.attributes.get_string("equation", "")
        equation = parse(text)
        if isinstance(equation, str):
            yield Skipped(node, equation)
            return
        lengths = _lengths(node, equation)
        if isinstance(lengths, str):
            yield Skipped(node, lengths)
            return
        steps = _put_in_place(node, equation, lengths)
        yield Applied(node, before={"equation": text}, after={"steps": steps})


def _lengths(node: ir.Node, equation: Equation) -> Lengths | str:
    """Return the length of each letter, or why the dimensions cannot be put together."""
    lengths: Lengths = {}
    for value, term in zip(node.inputs, (equation.left, equation.right), strict=True):
        if value is None or value.dtype not in FLOATS:
            return "its operands are no floats"
        if value.shape is None or len(value.shape) != len(term):
            return f"the rank of {value.name!r} is not known to be {len(term)}"
        for letter, length in zip(term, value.shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                return f"{letter} is {lengths[letter]} and {length}: one may be broadcast"
    groups = (equation.rows, equation.columns, equation.summed)
    unknown = [c for group in groups for c in group if not isinstance(lengths[c], int)]
    if unknown and any(len(group) != 1 for group in groups):
        return f"{', '.join(unknown)} is dynamic, and dimensions have to be merged"
    if any(length == 0 for length in lengths.values()):
        return "a dimension is 0"
    return lengths


def _put_in_place(node: ir.Node, equation: Equation, lengths: Lengths) -> list[str]:
    batch, rows, columns, summed = (
        equation.batch,
        equation.rows,
        equation.columns,
        equation.summed,
    )
    builder = _Builder(node, equation, lengths)
    left, right = node.inputs
    left = builder.moved(left, equation.left, batch + rows + summed)
    right = builder.moved(right, equation.right, batch + summed + columns)
    if not (rows or columns or summed):
        value: ir.Value | None = builder.call("Mul", [left, right])
    else:
        left = builder.merged(left, (rows, summed))
        right = builder.merged(right, (summed, columns))
        value = builder.call("MatMul", [left, right])
        value = builder.split(value, (rows, columns))
    builder.moved(value, equation.product, equation.out)
    builder.chain.put_in_place()
    return builder.steps


class _Builder:
    """Moves and merges dimensions, and leaves out what would change nothing."""

    def __init__(self, node: ir.Node, equation: Equation, lengths: Lengths) -> None:
        self.chain = Chain(node)
        self.steps: list[str] = []
        self._batch = equation.batch
        self._lengths = lengths

    def call(
        self,
        op_type: str,
        inputs: list[ir.Value | None],
        attributes: Mapping[str, object] | None = None,
    ) -> ir.Value:
        self.steps.append(op_type)
        return self.chain(op_type, inputs, attributes)

    def moved(self, value: ir.Value | None, source: str, target: str) -> ir.Value | None:
        if source == target:
            return value
        perm = [source.index(letter) for letter in target]
        return self.call("Transpose", [value], {"perm": perm})

    def merged(self, value: ir.Value | None, groups: tuple[str, str]) -> ir.Value | None:
        """Make each group one dimension, of length 1 where it is empty."""
        if all(len(group) == 1 for group in groups):
            return value
        sizes = [prod(self._static(group)) for group in groups]
        return self._reshaped(value, sizes)

    def split(self, value: ir.Value, groups: tuple[str, str]) -> ir.Value | None:
        """Undo `merged`."""
        if all(len(group) == 1 for group in groups):
            return value
        return self._reshaped(value, self._static("".join(groups)))

    def _static(self, letters: str) -> list[int]:
        return [n for c in letters if isinstance(n := self._lengths[c], int)]

    def _reshaped(self, value: ir.Value | None, sizes: list[int]) -> ir.Value:
        # 0 keeps a dimension's length, dynamic or not.
        shape = np.array([0] * len(self._batch) + sizes, np.int64)
        return self.call("Reshape", [value, self.chain.constant("shape", shape)])
