"""The operators that are not rounded, clipped or searched need none of it."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendflow.backends.emulator.arithmetic import is_bounded, is_finite, selects
from tests.models import F32, model, node, run

ONE_INPUT = [
    "Abs", "Atan", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish",
    "Identity", "LeakyRelu", "LogSoftmax", "Mish", "Neg", "Reciprocal", "Relu", "Round",
    "Selu", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Tanh",
    "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "Celu", "Elu", "ThresholdedRelu",
]  # fmt: skip
BIGGEST = np.array([65504, -65504, 65504, 65504], F32)


def claims(op_type: str) -> tuple[bool, bool, bool]:
    value = ir.Value(name="x")
    made = ir.Node("", op_type, [value], version=18)
    return selects(made), is_bounded(made), is_finite(made)


@pytest.mark.parametrize("op_type", ONE_INPUT)
@settings(max_examples=25, deadline=None)
@given(bits=st.lists(st.integers(0, 2**16 - 1), min_size=4, max_size=4))
def test_claims_hold_for_fp16_numbers(op_type: str, bits: list[int]) -> None:
    drawn = np.array(bits, np.uint16).view(np.float16).astype(F32)
    proto = model([node(op_type, ["x"], ["y"])], [("x", [4])], [("y", ["n"])], opset=18)
    selecting, bounded, finite = claims(op_type)

    for x in (np.nan_to_num(drawn, posinf=65504, neginf=-65504), BIGGEST):
        y = run(proto, {"x": x})["y"]
        if selecting:
            np.testing.assert_array_equal(y, y.astype(np.float16).astype(F32))
        if bounded:
            assert not (np.abs(y) >= 65520).any()  # from there fp16 rounds up
        if finite or selecting:
            assert not np.isnan(y).any()


@pytest.mark.parametrize(
    "op_type", ["Sqrt", "Log", "Acos", "Softmin", "LayerNormalization"]
)
def test_operators_that_are_not_listed_are_searched_for_nan(op_type: str) -> None:
    assert not claims(op_type)[2]


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin"])
def test_largest_or_smallest_of_nothing_is_infinite_so_it_is_rounded(op_type: str) -> None:
    node_of_nothing, node_of_some = (
        ir.Node("", op_type, [ir.Value(name="x", shape=ir.Shape([2, length]))], version=18)
        for length in (0, 3)
    )

    assert not selects(node_of_nothing)
    assert selects(node_of_some)
