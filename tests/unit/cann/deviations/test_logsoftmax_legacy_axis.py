"""LogSoftmax before opset 13 against a numpy log-softmax along the one axis CANN takes.

Its default axis, -1, is that of canndev logsoftmax_plugin.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.emulation import FP32, Linted, cured, emulate, linted
from tests.models import F32, Spec, model, node, run

if TYPE_CHECKING:
    from collections.abc import Sequence


def logsoftmax(shape: Sequence[int], opset: int = 11, **axis: Any) -> onnx.ModelProto:
    nodes = [node("LogSoftmax", ["x"], ["y"], name="logsoftmax", **axis)]
    return model(nodes, [("x", shape)], [("y", shape)], opset=opset)


def along(x: np.ndarray, axis: int) -> np.ndarray:
    low = x - x.max(axis=axis, keepdims=True)
    return np.asarray(low - np.log(np.exp(low).sum(axis=axis, keepdims=True)))


def data(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal(shape).astype(F32)}


@pytest.mark.parametrize(
    ("shape", "kind", "axis"),
    [
        pytest.param((2, 3, 4), {}, 2, id="default"),
        pytest.param((2, 3, 4), {"axis": 0}, 0, id="axis-0"),
        pytest.param((2, 3, 4), {"axis": 1}, 1, id="axis-1"),
        pytest.param((2, 3, 4, 5), {"axis": -2}, 2, id="from-the-end"),
        pytest.param((6, 5), {"axis": 0}, 0, id="rank-2"),
    ],
)
@pytest.mark.parametrize("cann", ["6.0", "8.1", "9.1"])
def test_it_normalises_along_one_axis(
    shape: tuple[int, ...], kind: dict[str, int], axis: int, cann: str
) -> None:
    proto, feeds = logsoftmax(shape, **kind), data(*shape)

    y = emulate(proto, feeds, cann=cann, **FP32)["y"]

    # logarithms of single sums; numpy adds in another order
    np.testing.assert_allclose(y, along(feeds["x"], axis), rtol=0, atol=2e-6)
    assert np.abs(y - run(proto, feeds)["y"]).max() > 0.3
    assert linted(proto) == [Linted("logsoftmax", "logsoftmax-legacy-axis", "silent")]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(logsoftmax([2, 3, 4], axis=2), id="last-axis"),
        pytest.param(logsoftmax([2, 3, 4], axis=-1), id="last-axis-from-the-end"),
        pytest.param(logsoftmax([6, 5]), id="default-of-rank-2"),
        pytest.param(logsoftmax([2, 3, 4], opset=13), id="default-of-opset-13"),
        pytest.param(logsoftmax([2, 3, 4], opset=13, axis=1), id="opset-13"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []


def test_what_is_coerced_over_a_rank_that_is_not_known_is_unknown() -> None:
    def reshaped(opset: int, **axis: int) -> onnx.ModelProto:
        nodes = [
            node("Reshape", ["x", "shape"], ["r"]),
            node("LogSoftmax", ["r"], ["y"], name="logsoftmax", **axis),
        ]
        inputs: list[Spec] = [("x", [24]), ("shape", ["rank"], onnx.TensorProto.INT64)]
        return model(nodes, inputs, [("y", ["a", "b"])], opset=opset)

    named = [Linted("logsoftmax", "logsoftmax-legacy-axis", "unknown")]
    assert linted(reshaped(11, axis=0)) == named
    assert linted(reshaped(11, axis=-1)) == linted(reshaped(13, axis=0)) == []


@pytest.mark.parametrize("kind", [{}, {"axis": 0}, {"axis": 1}])
def test_after_the_rule_it_agrees_with_the_original(kind: dict[str, int]) -> None:
    proto, feeds = logsoftmax([2, 3, 4], **kind), data(2, 3, 4)

    y = emulate(cured(proto, "logsoftmax-legacy"), feeds, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, feeds)["y"])  # the same operations
