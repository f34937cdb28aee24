"""Div of int32 against real_div.py of CANN 8.1.RC1: fp32, the fraction dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto

from ascendflow.errors import NotModelledError
from tests.emulation import IEEE, Linted, convert, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx

INT32, INT64 = TensorProto.INT32, TensorProto.INT64
A = np.array([7, -7, 2**24 + 3, -(2**24) - 3, 2**31 - 1, 0], np.int32)
B = np.array([2, 2, 1, 1, 3, 5], np.int32)


def div(
    kind: int = INT32, constants: Mapping[str, np.ndarray] | None = None
) -> onnx.ModelProto:
    inputs = [name for name in ("a", "b") if name not in (constants or {})]
    return model(
        [node("Div", ["a", "b"], ["y"], name="div")],
        [(name, [6], kind) for name in inputs],
        [("y", [6], kind)],
        constants,
    )


def test_int32_is_divided_in_fp32() -> None:
    y = emulate(div(), {"a": A, "b": B}, soc_version=IEEE)["y"]

    np.testing.assert_array_equal(
        y, np.trunc(A.astype(F32) / B.astype(F32)).astype(np.int32)
    )
    right = run(div(), {"a": A, "b": B})["y"]
    assert (y - right).tolist() == [0, 0, 1, -1, 22, 0]


def test_int64_is_divided_exactly() -> None:
    feeds = {"a": A.astype(np.int64), "b": B.astype(np.int64)}

    y = emulate(div(INT64), feeds, soc_version=IEEE)["y"]

    np.testing.assert_array_equal(y, run(div(INT64), feeds)["y"])


@pytest.mark.parametrize("constants", [{}, {"a": B}, {"b": B}], ids=["fed", "a", "b"])
def test_lint_names_the_node(constants: dict[str, np.ndarray]) -> None:
    """One operand that stays small does not keep the other from being large."""
    assert linted(div(INT32, constants)) == [Linted("div", "int-div", "precision")]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(div(INT64), id="int64"),
        pytest.param(div(TensorProto.FLOAT), id="floats"),
        pytest.param(div(INT32, {"a": A[:2].repeat(3), "b": B}), id="small"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto, "int-div") == []


def test_int32_on_310_is_not_modelled(tmp_path: Path) -> None:
    assert linted(div(), soc_version="Ascend310") == [Linted("div", "int-div", "unknown")]
    with pytest.raises(NotModelledError, match=r"'div'.*no int32 kernel"):
        convert(div(), tmp_path, soc_version="Ascend310")
