from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.mod_sign import ModSign
from tests.editing import finding, why_skipped
from tests.models import model, node, run

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: dict[np.dtype[Any], int] = {
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
}


def mod(
    kind: int, constants: Mapping[str, np.ndarray] | None = None, **fmod: Any
) -> onnx.ModelProto:
    inputs = [name for name in ("a", "b") if name not in (constants or {})]
    return model(
        [node("Mod", ["a", "b"], ["y"], name="mod", **fmod)],
        [(name, ["N"], kind) for name in inputs],
        [("y", ["N"], kind)],
        constants,
    )


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of one type; no divisor is 0, nor -1, of which x86 traps the extreme."""
    dtype = draw(st.sampled_from(list(KINDS)))
    limits = np.iinfo(dtype)
    whole = st.integers(int(limits.min), int(limits.max))
    near = st.integers(-20, 20)
    divisors = (whole | near).filter(lambda n: n not in {0, -1})
    return (
        draw(arrays(dtype, 6, elements=whole | near)),
        draw(arrays(dtype, 6, elements=divisors)),
    )


@settings(max_examples=60, deadline=None)
@given(operands(), st.booleans())
def test_every_value_is_the_same(
    pair: tuple[np.ndarray, np.ndarray],
    known: bool,
) -> None:
    a, b = pair
    proto = mod(KINDS[a.dtype], {"b": b} if known else None)
    feeds = {"a": a} if known else {"a": a, "b": b}

    found, edited = finding(ModSign(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(run(edited, feeds)["y"], run(proto, feeds)["y"])
    np.testing.assert_array_equal(run(edited, feeds)["y"], np.mod(a, b))


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(mod(TensorProto.INT64, fmod=1), "fmod is 1", id="fmod"),
        pytest.param(mod(TensorProto.FLOAT, fmod=1), "fmod is 1", id="floats"),
        pytest.param(mod(TensorProto.INT8), "operands are int8", id="int8"),
        pytest.param(mod(TensorProto.UINT64), "operands are uint64", id="unsigned"),
    ],
)
def test_what_is_right_or_has_no_comparisons_is_skipped(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ModSign(), proto)


def test_a_broadcast_divisor_keeps_the_shape() -> None:
    proto = mod(TensorProto.INT64, {"b": np.array([7])})
    feeds = {"a": np.arange(-9, 9)}

    found, edited = finding(ModSign(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(run(edited, feeds)["y"], feeds["a"] % 7)
