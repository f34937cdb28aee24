"""Reductions that should reduce nothing, as CANN's parsers take them: over all axes."""

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

X = np.array([[-2, 3, 0.5], [4, 5, -1]], F32)
OVER_ALL = {
    "ReduceMax": 5,
    "ReduceMin": -2,
    "ReduceProd": 60,
    "ReduceMean": 9.5 / 6,
    "ReduceSumSquare": 4 + 9 + 0.25 + 16 + 25 + 1,
    "ReduceSum": 9.5,
}


def reduction(
    op_type: str, axes: list[int] | None, *, noop: int = 1, opset: int = 18, name: str = "r"
) -> onnx.ModelProto:
    constants = {} if axes is None else {"axes": np.array(axes, np.int64)}
    inputs = ["x", *constants]
    return model(
        [node(op_type, inputs, ["y"], name=name, noop_with_empty_axes=noop)],
        [("x", [2, 3])],
        [("y", ["a", "b"])],
        constants,
        opset,
    )


@pytest.mark.parametrize("op_type", OVER_ALL)
@pytest.mark.parametrize("cann", ["8.1", "8.5"])
def test_all_axes_are_reduced(op_type: str, cann: str) -> None:
    proto = reduction(op_type, [])

    y = emulate(proto, {"x": X}, cann=cann, **FP32)["y"]

    np.testing.assert_allclose(y, [[OVER_ALL[op_type]]], rtol=1e-6)
    assert y.shape != run(proto, {"x": X})["y"].shape
    assert linted(proto, cann=cann) == [Linted("r", "reduce-noop", "silent")]


def test_axes_that_are_absent_are_all_axes_too() -> None:
    y = emulate(reduction("ReduceMax", None), {"x": X}, **FP32)["y"]

    assert y.tolist() == [[5.0]]


@pytest.mark.parametrize("cann", ["6.0", "8.1", "9.1"])
def test_a_sum_without_axes_is_refused(tmp_path: Path, cann: str) -> None:
    first = reduction("ReduceSum", None, opset=13, name="one")
    proto = model(
        [*first.graph.node, node("ReduceSum", ["y"], ["z"], noop_with_empty_axes=1)],
        [("x", [2, 3])],
        [("z", ["a", "b"])],
        opset=13,
    )

    assert linted(proto, cann=cann) == [
        Linted("one", "reduce-noop", "rejected"),
        Linted("z", "reduce-noop", "rejected"),
    ]
    with pytest.raises(StageError, match=r"refuses(.|\n)*'one'(.|\n)*'z'"):
        convert(proto, tmp_path, cann=cann)
    edited = cured(proto, "reduce-noop")
    y = emulate(edited, {"x": X}, cann=cann, **FP32)["z"]
    np.testing.assert_array_equal(y, run(proto, {"x": X})["z"])


@pytest.mark.parametrize(
    ("proto", "cann"),
    [
        pytest.param(reduction("ReduceMax", [], noop=0), "8.1", id="noop-0"),
        pytest.param(reduction("ReduceMax", [1]), "8.1", id="axes"),
        pytest.param(reduction("ReduceMax", []), "9.1", id="forwarded-max"),
        pytest.param(reduction("ReduceSum", []), "9.1", id="forwarded-sum"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto, cann: str) -> None:
    assert linted(proto, cann=cann) == []


def test_axes_that_are_not_known_are_not_modelled(tmp_path: Path) -> None:
    proto = model(
        [
            node("NonZero", ["x"], ["found"]),
            node("Shape", ["found"], ["length"], start=1),
            node("ConstantOfShape", ["length"], ["axes"]),
            node("Cast", ["axes"], ["whole"], to=7),
            node("ReduceMax", ["x", "whole"], ["y"], name="r", noop_with_empty_axes=1),
        ],
        [("x", [2, 3])],
        [("y", ["a", "b"])],
        opset=18,
    )

    assert linted(proto) == [Linted("r", "reduce-noop", "unknown")]
    with pytest.raises(NotModelledError, match=r"'r'.*axes are not known"):
        convert(proto, tmp_path)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMean", "ReduceProd", "ReduceSum"])
def test_after_the_rule_it_agrees_with_the_original(op_type: str) -> None:
    proto = reduction(op_type, [])

    y = emulate(cured(proto, "reduce-noop"), {"x": X}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": X})["y"])
