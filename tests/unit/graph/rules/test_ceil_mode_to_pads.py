from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.ceil_mode_to_pads import CeilModeToPads
from tests.editing import finding, why_skipped
from tests.models import F32, Spec, model, node, run
from tests.windows import outputs, pool, random_pools

RULE = CeilModeToPads()


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("counted", [0, 1])
def test_values_are_kept(op_type: str, counted: int) -> None:
    done = 0
    kind: dict[str, Any] = {"ceil_mode": 1, "opset": 18 if op_type == "LpPool" else 17}
    if op_type == "AveragePool":
        kind["count_include_pad"] = counted
    for proto in random_pools(op_type, 150, **kind):
        found, edited = finding(RULE, proto)
        done += isinstance(found, Applied)
        before, after = outputs(proto, edited)
        # sums of elements and zeros in another order, where padding counts
        last_bits = 4e-7 * counted * float(np.abs(before).max())
        np.testing.assert_allclose(after, before, rtol=0, atol=last_bits)
        (last,) = (n for n in edited.graph.node if n.op_type == op_type)
        left = {a.name for a in last.attribute}
        assert isinstance(found, Skipped) or "ceil_mode" not in left

    assert done > 100


def test_an_open_batch_costs_nothing() -> None:
    kind: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}
    proto = pool("AveragePool", ["n", 1, 5, 4], **kind)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    x = {"x": np.random.default_rng(0).standard_normal((3, 1, 5, 4)).astype(F32)}
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])


@pytest.mark.parametrize("counted", [1, -1])
def test_padding_that_counts_becomes_elements(counted: int) -> None:
    """Whatever is not 0 counts, as onnxruntime has it."""
    kind: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    proto = pool(
        "AveragePool", [1, 1, 4, 4], ceil_mode=1, count_include_pad=counted, **kind
    )

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    assert [n.op_type for n in edited.graph.node] == ["Pad", "AveragePool"]
    assert found.after == {"pads": [0, 0, 1, 1]}
    x = np.arange(1, 17, dtype=F32).reshape(1, 1, 4, 4)
    expected = [14 / 9, 30 / 9, 2, 57 / 9, 11, 6, 4.5, 7.5, 4]  # windows cut off at 6
    for each in (proto, edited):
        np.testing.assert_allclose(run(each, {"x": x})["y"].ravel(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        pytest.param([1, 1, 5, 6], {}, "ceil_mode is off", id="off"),
        pytest.param([1, 1, "h", 6], {"ceil_mode": 1}, "are not fixed", id="dynamic"),
        pytest.param(
            [1, 1, 5, 6], {"ceil_mode": 1, "auto_pad": "SAME_UPPER"}, "beside", id="same"
        ),
    ],
)
def test_what_is_not_sure_is_skipped(
    shape: list[int | str], kind: dict[str, Any], reason: str
) -> None:
    assert reason in why_skipped(RULE, pool("MaxPool", shape, kernel_shape=[2, 2], **kind))


def test_a_pool_with_indices_is_skipped() -> None:
    dims = ["a", "b", "c", "d"]
    given: list[Spec] = [("y", dims), ("i", dims, onnx.TensorProto.INT64)]
    made = node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], ceil_mode=1)

    found, _ = finding(RULE, model([made], [("x", [1, 2, 5, 6])], given))

    assert isinstance(found, Skipped)
    assert "Indices" in found.reason
