"""Reductions with an axes input: refused or not modelled, and what cures some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, Linted, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

X = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(F32)}


def reduction(op_type: str, opset: int, **attributes: int) -> onnx.ModelProto:
    """Reduce the last two axes, given as input, or as attribute up to opset 17."""
    as_input = opset >= (13 if op_type == "ReduceSum" else 18)
    inputs = ["x", "axes"] if as_input else ["x"]
    given = {} if as_input else {"axes": [1, 2]}
    return model(
        [node(op_type, inputs, ["y"], name="r", **given, **attributes)],
        [("x", [2, 3, 4])],
        [("y", ["a", "b", "c"])],
        {"axes": np.array([1, 2])} if as_input else {},
        opset,
    )


def test_a_sum_is_refused_up_to_6_and_cured(tmp_path: Path) -> None:
    proto = reduction("ReduceSum", 13)

    assert linted(proto, cann="6.0") == [Linted("r", "reduce-axes-input", "rejected")]
    with pytest.raises(StageError, match=r"refuses(.|\n)*'r'"):
        convert(proto, tmp_path, cann="6.0")
    edited = cured(proto, "reduce-axes-input")
    assert linted(edited, cann="6.0") == []
    y = emulate(edited, X, cann="6.0", **FP32)["y"]
    np.testing.assert_array_equal(y, run(proto, X)["y"])  # only an attribute differs


@pytest.mark.parametrize(
    ("op_type", "cann"),
    [
        ("ReduceMean", "8.5"),
        ("ReduceMean", "9.1"),
        ("ReduceSumSquare", "9.1"),
        *(
            (each, "9.0")
            for each in ("ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceProd")
        ),
    ],
)
def test_others_are_not_modelled_and_cured(tmp_path: Path, op_type: str, cann: str) -> None:
    proto = reduction(op_type, 18)

    found = linted(proto, "reduce-axes-input", cann=cann)
    assert found == [Linted("r", "reduce-axes-input", "unknown")]
    with pytest.raises(NotModelledError, match=r"'r'.*reads no axes input"):
        convert(proto, tmp_path, cann=cann)
    y = emulate(cured(proto, "reduce-axes-input"), X, cann=cann, **FP32)["y"]
    # sums and products in another order; of a mean times 1 / 12, rounded to fp32
    np.testing.assert_allclose(y, run(proto, X)["y"], rtol=1e-6)


@pytest.mark.parametrize("cann", ["8.5", "9.1"])
@pytest.mark.parametrize("op_type", ["ReduceL1", "ReduceL2"])
def test_norms_have_no_parser_that_could_read_them(op_type: str, cann: str) -> None:
    found = linted(reduction(op_type, 18), cann=cann)

    assert found == [Linted("r", "reduce-norm-unregistered", "rejected")]


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin", "ReduceProd"])
def test_others_are_read_since_9_1(op_type: str) -> None:
    found = [Linted("r", "reduce-axes-input", "unknown")]

    assert linted(reduction(op_type, 18), "reduce-axes-input", cann="9.0") == found
    assert linted(reduction(op_type, 18), "reduce-axes-input", cann="9.1") == []


@pytest.mark.parametrize(
    ("proto", "cann"),
    [
        pytest.param(reduction("ReduceSum", 13, noop_with_empty_axes=1), "6.0", id="noop"),
        pytest.param(reduction("ReduceSum", 11), "6.0", id="attribute"),
        pytest.param(reduction("ReduceSum", 13), "8.5", id="sum-since-8.5"),
        pytest.param(reduction("ReduceMean", 17), "9.1", id="opset-17"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto, cann: str) -> None:
    assert linted(proto, cann=cann) == []
