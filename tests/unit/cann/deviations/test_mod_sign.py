"""Mod against C's remainder, in fp32 where AI Core computes it: mod.py of CANN 8.1.RC1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.emulation import IEEE, Linted, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = {
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "float32": TensorProto.FLOAT,
}
A = np.array([7, -7, 7, -7, 0, -6, 100, -100])
B = np.array([3, 3, -3, -3, 5, 3, 7, -7])


def mod(
    dtype: str, constants: Mapping[str, np.ndarray] | None = None, **fmod: Any
) -> onnx.ModelProto:
    inputs = [n for n in ("a", "b") if n not in (constants or {})]
    kind = TYPES[dtype]
    return model(
        [node("Mod", ["a", "b"], ["y"], name="mod", **fmod)],
        [(name, [8], kind) for name in inputs],
        [("y", [8], kind)],
        constants,
    )


def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """fp32: x - (floor(max(x / y, 0)) + ceil(min(x / y, 0))) * y."""
    wide, by = x.astype(F32), y.astype(F32)
    quotient = wide / by
    whole = np.floor(np.maximum(quotient, 0)) + np.ceil(np.minimum(quotient, 0))
    return np.asarray((wide - whole * by).astype(x.dtype))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310P3", "Ascend910B1"])
def test_the_remainder_has_the_sign_of_the_dividend(dtype: str, soc_version: str) -> None:
    proto = mod(dtype)
    feeds = {"a": A.astype(dtype), "b": B.astype(dtype)}

    y = emulate(proto, feeds, soc_version=soc_version)["y"]

    np.testing.assert_array_equal(y, kernel(feeds["a"], feeds["b"]))
    assert y.tolist() == [1, -1, 1, -1, 0, 0, 2, -2]
    assert run(proto, feeds)["y"].tolist() == [1, 2, -2, -1, 0, 0, 2, -2]


def test_int32_is_computed_in_fp32_and_int64_is_not() -> None:
    big = np.array([2**24 + 1, 2**30 + 7, -(2**24) - 3, 2**31 - 1, 5, 6, 7, 8])
    by = np.array([2, 10, 4, 3, 3, 3, 3, 3])
    short = {"a": big.astype(np.int32), "b": by.astype(np.int32)}

    y = emulate(mod("int32"), short, soc_version=IEEE)["y"]
    exact = emulate(mod("int64"), {"a": big, "b": by}, soc_version=IEEE)["y"]

    np.testing.assert_array_equal(y, kernel(short["a"], short["b"]))
    assert y[0] == 0  # 2**24 + 1 is no fp32 number; the remainder by 2 is 1
    np.testing.assert_array_equal(exact, np.fmod(big, by))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_lint_names_the_node(dtype: str) -> None:
    assert linted(mod(dtype)) == [Linted("mod", "mod-sign", "silent")]


def test_lint_names_what_may_only_lose_digits() -> None:
    assert linted(mod("int32", fmod=1)) == [Linted("mod", "mod-sign", "precision")]
    assert linted(mod("int32", fmod=1), soc_version="Ascend310") == []


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(mod("uint8"), id="unsigned"),
        pytest.param(mod("int64", fmod=1), id="fmod"),
        pytest.param(mod("int8", fmod=1), id="fmod-of-int8"),
        pytest.param(mod("float32", fmod=1), id="floats"),
        pytest.param(mod("int64", {"a": abs(A), "b": abs(B)}), id="no-negatives"),
        pytest.param(mod("int64", {"a": -abs(A), "b": -abs(B)}), id="no-positives"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto, "mod-sign") == []


def test_lint_knows_that_a_shape_is_not_negative() -> None:
    x: tuple[str, list[str | int]] = ("x", ["N", 3])
    nodes = [node("Shape", ["x"], ["a"]), node("Mod", ["a", "b"], ["y"], name="mod")]
    for by, found in ((3, []), (-3, [Linted("mod", "mod-sign", "silent")])):
        proto = model(
            nodes,
            [x],
            [("y", [2], TensorProto.INT64)],
            {"b": np.array([by, by])},
        )
        assert linted(proto) == found


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("constants", [{}, {"b": B}, {"b": abs(B)}, {"b": -abs(B)}])
def test_after_the_rule_it_agrees_with_the_original(
    dtype: str, constants: dict[str, np.ndarray]
) -> None:
    proto = mod(dtype, {name: array.astype(dtype) for name, array in constants.items()})
    feeds = {"a": A.astype(dtype)}
    if not constants:
        feeds["b"] = B.astype(dtype)

    edited = cured(proto, "mod-sign")

    np.testing.assert_array_equal(
        emulate(edited, feeds, soc_version=IEEE)["y"], run(proto, feeds)["y"]
    )
    assert "silent" not in [found.consequence for found in linted(edited)]


def test_it_is_emulated_in_a_branch_too() -> None:
    kind = TensorProto.INT64
    body = [node("Mod", ["a", "b"], ["t"], name="mod")]
    branch = onnx.helper.make_graph(
        body, "then", [], [onnx.helper.make_tensor_value_info("t", kind, [8])]
    )
    other = onnx.helper.make_graph(
        [node("Identity", ["a"], ["e"])],
        "else",
        [],
        [onnx.helper.make_tensor_value_info("e", kind, [8])],
    )
    proto = model(
        [node("If", ["c"], ["y"], then_branch=branch, else_branch=other)],
        [("a", [8], kind), ("b", [8], kind), ("c", [], TensorProto.BOOL)],
        [("y", [8], kind)],
    )

    y = emulate(proto, {"a": A, "b": B, "c": np.array(True)})["y"]

    np.testing.assert_array_equal(y, np.fmod(A, B))
