from __future__ import annotations

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.drop_pool_indices import DropPoolIndices
from tests.editing import finding, why_skipped
from tests.models import Spec, model, node
from tests.windows import outputs, pool

RULE = DropPoolIndices()


def with_indices(*, given: bool, name: str = "i", order: int = 0) -> onnx.ModelProto:
    dims = ["a", "b", "c", "d"]
    made = node("MaxPool", ["x"], ["y", name], kernel_shape=[2, 3], storage_order=order)
    given_out: list[Spec] = [("y", dims), ("i", dims, onnx.TensorProto.INT64)]
    return model([made], [("x", [1, 2, 5, 6])], given_out if given else given_out[:1])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", ["i", ""])
def test_what_nobody_reads_is_dropped(order: int, name: str) -> None:
    proto = with_indices(given=False, name=name, order=order)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    (left,) = edited.graph.node
    assert list(left.output) == ["y"]
    assert [a.name for a in left.attribute] == ["kernel_shape"]
    assert left.name == "y"
    np.testing.assert_array_equal(*outputs(proto, edited))


def test_storage_order_of_values_only_is_dropped() -> None:
    proto = pool("MaxPool", [1, 2, 5, 6], kernel_shape=[2, 3], storage_order=1)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(*outputs(proto, edited))


def test_indices_that_are_read_are_kept() -> None:
    assert "Indices 'i' are used" in why_skipped(RULE, with_indices(given=True))


def test_a_pool_of_values_only_is_left_alone() -> None:
    proto = pool("MaxPool", [1, 2, 5, 6], kernel_shape=[2, 3])

    assert "values only" in why_skipped(RULE, proto)
