from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.auto_pad_to_pads import AutoPadToPads
from tests.editing import finding, why_skipped
from tests.models import model, node, run
from tests.windows import numbers, outputs, pool, random_pools

RULE = AutoPadToPads()


@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER", "VALID"])
@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
def test_pools_keep_their_values_bit_by_bit(op_type: str, auto_pad: str) -> None:
    kind: dict[str, Any] = {"auto_pad": auto_pad, "pads": None, "ceil_mode": None}
    for proto in random_pools(op_type, 40, dilations=None, **kind):
        found, edited = finding(RULE, proto)
        if isinstance(found, Skipped):
            assert "would crop" in found.reason
            assert op_type != "LpPool"
            with pytest.raises(Exception, match="RUNTIME_EXCEPTION"):
                outputs(proto, edited)
            continue
        np.testing.assert_array_equal(*outputs(proto, edited))


@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER"])
@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize(
    ("lengths", "kernel", "strides"),
    [
        pytest.param([8], [1], [5], id="by-two"),
        pytest.param([8], [2], [5], id="by-one"),
        pytest.param([14], [1], [9], id="by-four"),
        pytest.param([13, 6], [1, 3], [9, 2], id="one-axis-is-padded"),
        pytest.param([13, 14], [1, 2], [9, 11], id="both"),
    ],
)
def test_a_sum_of_powers_is_cropped_as_in_onnxruntime(
    lengths: list[int], kernel: list[int], strides: list[int], opset: int, auto_pad: str
) -> None:
    kind: dict[str, Any] = {"kernel_shape": kernel, "strides": strides}
    proto = pool("LpPool", [2, 3, *lengths], opset, auto_pad=auto_pad, **kind)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(*outputs(proto, edited))


@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER", "VALID"])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_convolutions_keep_their_values_bit_by_bit(
    auto_pad: str, rank: int, stride: int
) -> None:
    conv = node("Conv", ["x", "w"], ["y"], auto_pad=auto_pad, strides=[stride] * rank)
    shape, dims = [1, 2, *range(5, 5 + rank)], [f"d{k}" for k in range(rank + 2)]
    weights = {"w": numbers(3, 2, *[2] * rank)}
    proto = model([conv], [("x", shape)], [("y", dims)], weights)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(*outputs(proto, edited))


def test_it_says_what_it_wrote() -> None:
    kind: dict[str, Any] = {"kernel_shape": [2, 3], "strides": [1, 2]}

    found, _ = finding(RULE, pool("MaxPool", [1, 1, 5, 6], auto_pad="SAME_LOWER", **kind))

    assert isinstance(found, Applied)
    assert found.before == {"auto_pad": "SAME_LOWER"}
    assert found.after == {"pads": [1, 1, 0, 0]}


@pytest.mark.parametrize("kind", [{"dilations": [2, 1]}, {"ceil_mode": 1}])
def test_a_valid_window_has_no_pads_whatever_it_is_like(kind: dict[str, Any]) -> None:
    proto = pool("MaxPool", [1, 1, 6, 7], kernel_shape=[2, 3], auto_pad="VALID", **kind)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    assert found.after == {"pads": [0, 0, 0, 0]}
    np.testing.assert_array_equal(*outputs(proto, edited))


@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        pytest.param([1, 1, 5, 6], {}, "auto_pad is NOTSET", id="not-set"),
        pytest.param(
            [1, 1, "h", 6],
            {"auto_pad": "SAME_LOWER", "strides": [2, 1]},
            "are not fixed along an axis of stride over 1",
            id="dynamic",
        ),
        pytest.param(
            [1, 1, 5, 6],
            {"auto_pad": "SAME_LOWER", "dilations": [2, 1]},
            "computed in two ways",
            id="dilated",
        ),
        pytest.param(
            [1, 1, 5, 6],
            {"auto_pad": "SAME_UPPER", "ceil_mode": 1},
            "ceil_mode beside auto_pad SAME_UPPER",
            id="ceil",
        ),
    ],
)
def test_what_is_not_sure_is_skipped(
    shape: list[int | str], kind: dict[str, Any], reason: str
) -> None:
    assert reason in why_skipped(RULE, pool("MaxPool", shape, kernel_shape=[2, 2], **kind))


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("height", [1, 4, 7])
@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER"])
def test_a_stride_of_one_pads_alike_at_any_length(
    op_type: str, height: int, auto_pad: str
) -> None:
    kind: dict[str, Any] = {"kernel_shape": [4, 3], "strides": [1, 2]}
    proto = pool(op_type, ["n", 2, "h", 6], auto_pad=auto_pad, **kind)

    found, after = finding(RULE, proto)

    assert isinstance(found, Applied)
    x = {"x": numbers(3, 2, height, 6)}
    np.testing.assert_array_equal(run(after, x)["y"], run(proto, x)["y"])
