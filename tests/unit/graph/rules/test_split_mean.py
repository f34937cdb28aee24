from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.promise import Difference
from ascendflow.graph.rules.split_mean import SplitMean
from tests.editing import applied, why_skipped
from tests.models import F32, Shape, mean, model, node, run

if TYPE_CHECKING:
    import onnx

F16 = np.float16


def pool(shape: Shape) -> onnx.ModelProto:
    nodes = [node("GlobalAveragePool", ["x"], ["y"])]
    return model(nodes, [("x", shape)], [("y", [f"d{axis}" for axis in range(len(shape))])])


def assert_equivalent(
    proto: onnx.ModelProto, after: onnx.ModelProto, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(F32)
    before, got = run(proto, {"x": x})["y"], run(after, {"x": x})["y"]
    difference = Difference()
    difference.add("x", before, got)
    assert got.shape == before.shape
    assert difference.why_broken("equivalent") is None


@pytest.mark.parametrize("opset", [11, 13, 17, 18])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(
    ("shape", "axes", "kinds"),
    [
        ((2, 3, 8, 9), [2, 3], ["ReduceMean"] * 2),
        ((2, 3, 8, 9), [-1, -2], ["ReduceMean"] * 2),
        ((4, 5, 6), None, ["ReduceMean"] * 3),
        ((2, 4096), [1], ["Reshape"] + ["ReduceMean"] * 2),
        ((2, 96, 5), [1], ["Reshape"] + ["ReduceMean"] * 2),
        ((2, 3, 1, 100), [2, 3], ["Reshape"] + ["ReduceMean"] * 2),
    ],
)
def test_the_mean_of_means_is_the_mean(
    shape: tuple[int, ...],
    axes: list[int] | None,
    kinds: list[str],
    keepdims: int,
    opset: int,
) -> None:
    proto = mean(shape, axes, opset, keepdims=keepdims)

    after = applied(SplitMean(), proto)

    dropped = [] if keepdims else ["Squeeze"]
    assert [n.op_type for n in after.graph.node] == [*kinds, *dropped]
    assert_equivalent(proto, after, shape)


@pytest.mark.parametrize("shape", [(2, 3, 8, 9), (1, 4, 256), (1, 2, 4, 5, 6)])
def test_a_global_pool_is_a_mean(shape: tuple[int, ...]) -> None:
    after = applied(SplitMean(), pool(shape))

    assert_equivalent(pool(shape), after, shape)


def test_other_axes_may_be_dynamic() -> None:
    proto = mean(["n", 96, "t"], [1])

    assert_equivalent(proto, applied(SplitMean(), proto), (2, 96, 5))


def fp16_mean(x: np.ndarray) -> np.ndarray:
    """The mean along the last axis as 310 adds: x fp16(1 / N), then one after the other."""
    scaled = x.astype(F16) * F16(1 / x.shape[-1])
    total = np.zeros(x.shape[:-1], F16)
    for column in np.moveaxis(scaled, -1, 0):
        total = total + column
    return total


def test_two_short_sums_in_fp16_lose_less_than_a_long_one() -> None:
    """What the rule does to 4096 elements, in numpy's float16."""
    x = np.abs(np.random.default_rng(1).standard_normal((16, 4096))) * 3
    wanted = x.mean(axis=1)

    long = np.abs(fp16_mean(x) - wanted) / wanted
    short = np.abs(fp16_mean(fp16_mean(x.reshape(16, 64, 64))) - wanted) / wanted

    assert long.min() > 0.05
    assert short.max() < 0.005


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        pytest.param(mean([2, 63], [1]), "63 elements only", id="few"),
        pytest.param(
            mean([2, 64], [], 18, noop_with_empty_axes=1), "reduces nothing", id="noop"
        ),
        pytest.param(mean([2, 127], [1]), "no two factors", id="prime"),
        pytest.param(mean([2, 2 * 1009], [1]), "no two factors", id="nearly-prime"),
        pytest.param(mean([2, "n"], [1]), "is dynamic", id="dynamic"),
        pytest.param(mean([96, "n", "m"], [0]), "two axes behind", id="two-dynamic"),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, words: str) -> None:
    assert words in why_skipped(SplitMean(), proto)
