"""The nodes of an unrolled GRU.

With x_t of shape (batch, input) and h of shape (batch, hidden), per direction:

    z = sigmoid(x_t Wz' + h Rz' + Wbz + Rbz), r likewise
    n = tanh(x_t Wn' + Wbn + (r * h) Rn' + Rbn)         linear_before_reset = 0
    n = tanh(x_t Wn' + Wbn + r * (h Rn' + Rbn))         linear_before_reset = 1
    h = (1 - z) * n + z * h

Source: ONNX operator docs, GRU-14.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant, input_at

if TYPE_CHECKING:
    import onnx_ir as ir
    from numpy.typing import NDArray

_GATES = 3
"""z, r and n, in this order in W, R and B."""
_BIAS, _INITIAL_H = 3, 5


class Shape(NamedTuple):
    """Lengths that are known before a run."""

    steps: int
    batch: int
    directions: int


@dataclass(frozen=True)
class _Weights:
    """One direction's arrays, gate by gate: input and recurrent products, both biases."""

    w: list[NDArray[np.floating]]
    r: list[NDArray[np.floating]]
    wb: list[NDArray[np.floating]]
    rb: list[NDArray[np.floating]]

    @classmethod
    def of(cls, node: ir.Node, direction: int) -> _Weights:
        w, r = constant(node.inputs[1]), constant(node.inputs[2])
        assert w is not None  # noqa: S101, asked for before
        assert r is not None  # noqa: S101, asked for before
        hidden = r.shape[-1]
        given = constant(input_at(node, _BIAS))
        bias = np.zeros(2 * _GATES * hidden, w.dtype) if given is None else given[direction]
        halves = np.split(bias, 2 * _GATES)
        return cls(
            [part.T.copy() for part in np.split(w[direction], _GATES)],
            [part.T.copy() for part in np.split(r[direction], _GATES)],
            halves[:_GATES],
            halves[_GATES:],
        )


def unroll(node: ir.Node, shape: Shape, *, reverse: bool) -> None:
    """Replace a GRU with constant weights, default activations and layout 0.

    Args:
        node: a GRU node without sequence_lens.
        shape: of its X, and the number of its directions.
        reverse: its only direction reads from the end.
    """
    chain = Chain(node)
    states = []
    for direction in range(shape.directions):
        order = list(range(shape.steps))
        if reverse or direction == 1:
            order.reverse()
        states.append(_Cell(chain, node, direction).run(order, shape))
    one_step = np.array([1, 1, shape.batch, -1], np.int64)
    to_step = chain.constant("step", one_step)
    along = [
        chain(
            "Concat",
            [chain("Reshape", [of_step[t], to_step]) for t in range(shape.steps)],
            {"axis": 0},
        )
        for of_step in states
    ]
    to_state = chain.constant("state", one_step[1:])
    lasts = [chain("Reshape", [of_step[list(of_step)[-1]], to_state]) for of_step in states]
    made = [chain("Concat", along, {"axis": 1}), chain("Concat", lasts, {"axis": 0})]
    chain.put_in_place(made[: len(node.outputs)])


class _Cell:
    """Makes the steps of one direction of one GRU."""

    def __init__(self, chain: Chain, node: ir.Node, direction: int) -> None:
        self._chain = chain
        self._node = node
        self._direction = direction
        self._weights = weights = _Weights.of(node, direction)
        after = bool(node.attributes.get_int("linear_before_reset", 0))
        self._dtype = weights.w[0].dtype
        self._recurrent = [self._constant(f"R{g}", weights.r[g]) for g in range(_GATES)]
        self._late_bias = self._constant("Rb", weights.rb[2]) if after else None
        self._one = self._constant("one", np.array(1, self._dtype))

    def run(self, order: list[int], shape: Shape) -> dict[int, ir.Value]:
        """Make all steps; the hidden states by step, in the order in which they come."""
        projected = self._project()
        h = self._first(shape.batch)
        states = {}
        for t in order:
            number = self._constant(f"step{t}", np.array(t, np.int64))
            x = [self._chain("Gather", [value, number], {"axis": 0}) for value in projected]
            h = states[t] = self._step(x, h)
        return states

    def _constant(self, role: str, array: object) -> ir.Value:
        return self._chain.constant(f"direction{self._direction}/{role}", array)

    def _first(self, batch: int) -> ir.Value:
        """Return the first hidden state, of shape (batch, hidden)."""
        given = input_at(self._node, _INITIAL_H)
        if given is None:
            hidden = self._weights.r[0].shape[0]
            return self._constant("initial_h", np.zeros((batch, hidden), self._dtype))
        which = self._constant("which", np.array(self._direction, np.int64))
        return self._chain("Gather", [given, which], {"axis": 0})

    def _project(self) -> list[ir.Value]:
        """Multiply all steps by W at once, and add the biases that do not depend on h."""
        chain, weights, projected = self._chain, self._weights, []
        for gate in range(_GATES):
            bias = weights.wb[gate]
            if gate < _GATES - 1 or self._late_bias is None:
                bias = bias + weights.rb[gate]
            factor = self._constant(f"W{gate}", weights.w[gate])
            product = chain("MatMul", [self._node.inputs[0], factor])
            projected.append(chain("Add", [product, self._constant(f"b{gate}", bias)]))
        return projected

    def _step(self, x: list[ir.Value], h: ir.Value) -> ir.Value:
        """Make one step; `x` is the projected input, gate by gate."""
        chain, recurrent = self._chain, self._recurrent
        z, r = (
            chain("Sigmoid", [chain("Add", [x[g], chain("MatMul", [h, recurrent[g]])])])
            for g in (0, 1)
        )
        if self._late_bias is not None:
            product = chain("MatMul", [h, recurrent[2]])
            memory = chain("Mul", [r, chain("Add", [product, self._late_bias])])
        else:
            memory = chain("MatMul", [chain("Mul", [r, h]), recurrent[2]])
        n = chain("Tanh", [chain("Add", [x[2], memory])])
        kept = chain("Mul", [z, h])
        return chain("Add", [chain("Mul", [chain("Sub", [self._one, z]), n]), kept])
