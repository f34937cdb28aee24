"""split-big-maxpool and split-big-avgpool, which differ in the global pool only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.split_big_avgpool import SplitBigAveragePool
from ascendflow.graph.rules.split_big_maxpool import SplitBigMaxPool
from tests.editing import finding, why_skipped
from tests.windows import outputs, pool, random_pools

if TYPE_CHECKING:
    import onnx

    from ascendflow.graph.rule import Rule

MAX, MEAN = SplitBigMaxPool(), SplitBigAveragePool()
BIG: dict[str, Any] = {"kernel_shape": [16, 17], "strides": [5, 7]}


def same(op_type: str, proto: onnx.ModelProto, edited: onnx.ModelProto) -> None:
    before, after = outputs(proto, edited)
    if op_type == "MaxPool":
        np.testing.assert_array_equal(before, after)
    else:  # `equivalent`: two divisions where one was
        extent = float(np.abs(before).max())
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-6 * extent)


@pytest.mark.parametrize(("op_type", "rule"), [("MaxPool", MAX), ("AveragePool", MEAN)])
@pytest.mark.parametrize("auto_pad", [None, "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_values_are_kept(op_type: str, rule: Rule, auto_pad: str | None) -> None:
    fixed: dict[str, Any] = {"kernel_shape": [16, 17], "dilations": [1, 1]}
    if auto_pad:
        fixed |= {"pads": None, "auto_pad": auto_pad}
    if op_type == "AveragePool":
        fixed["dilations"] = None
    for proto in random_pools(op_type, 25, **fixed):
        found, edited = finding(rule, proto)

        assert isinstance(found, Applied)
        same(op_type, proto, edited)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("opset", [9, 10, 17])
@pytest.mark.parametrize(
    ("lengths", "kind", "after"),
    [
        pytest.param((300, 2), {"kernel_shape": [300, 2]}, 1, id="whole"),
        pytest.param(
            (310, 70), {"kernel_shape": [300, 2], "strides": [64, 90]}, 2, id="cut"
        ),
        pytest.param(
            (20, 20),
            {"kernel_shape": [18, 18], "pads": [1] * 4, "strides": [9, 9]},
            2,
            id="pad",
        ),
        pytest.param((700,), {"kernel_shape": [690], "strides": [11]}, 2, id="1-d"),
    ],
)
def test_one_window_becomes_a_global_pool(
    op_type: str,
    opset: int,
    lengths: tuple[int, ...],
    kind: dict[str, Any],
    after: int,
) -> None:
    proto = pool(op_type, [1, 2, *lengths], opset, **kind)

    found, edited = finding(MAX if op_type == "MaxPool" else MEAN, proto)

    assert isinstance(found, Applied)
    assert found.after == {"op_type": f"Global{op_type}"}
    assert len(edited.graph.node) == after
    same(op_type, proto, edited)


def test_padding_in_the_divisor_keeps_a_mean_from_becoming_global() -> None:
    kind: dict[str, Any] = {"kernel_shape": [18, 18], "pads": [1, 1, 1, 1]}
    proto = pool("AveragePool", [1, 2, 16, 16], count_include_pad=1, **kind)

    found, edited = finding(MEAN, proto)

    assert isinstance(found, Applied)
    assert [n.op_type for n in edited.graph.node] == ["AveragePool", "AveragePool"]
    same("AveragePool", proto, edited)


@pytest.mark.parametrize(("op_type", "rule"), [("MaxPool", MAX), ("AveragePool", MEAN)])
def test_lengths_need_not_be_fixed(op_type: str, rule: Rule) -> None:
    found, edited = finding(rule, pool(op_type, [1, 2, "h", "w"], **BIG, ceil_mode=1))

    assert isinstance(found, Applied)
    assert len(edited.graph.node) == 2


@pytest.mark.parametrize(("op_type", "rule"), [("MaxPool", MAX), ("AveragePool", MEAN)])
@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        pytest.param([1, 1, 40, 40], {"kernel_shape": [15, 17]}, "not big", id="255"),
        pytest.param(
            [1, 1, 600, 9], {"kernel_shape": [256, 1]}, "is 256 long", id="256-long"
        ),
        pytest.param(
            [1, 1, 200, 9],
            {"kernel_shape": [2, 1], "strides": [64, 1]},
            "the stride 64",
            id="stride-64",
        ),
        pytest.param([1, 1, 9, 9, 9], {"kernel_shape": [8, 8, 8]}, "not big", id="3-d"),
    ],
)
def test_what_would_not_help_is_skipped(
    op_type: str, rule: Rule, shape: list[int], kind: dict[str, Any], reason: str
) -> None:
    assert reason in why_skipped(rule, pool(op_type, shape, **kind))


def test_a_dilated_window_is_skipped() -> None:
    kind: dict[str, Any] = {"kernel_shape": [16, 16], "dilations": [2, 1]}

    assert "dilated" in why_skipped(MAX, pool("MaxPool", [1, 1, 40, 40], **kind))
