"""A second output, or storage_order; max_pool_plugin.cc counts node->output_size()."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import Spec, model, node, run
from tests.windows import numbers, pool


def two_pools(*, read: bool) -> onnx.ModelProto:
    """Two MaxPools with Indices, of which the last may be an output."""
    nodes = [
        node("MaxPool", ["x"], ["a", "i"], name="first", kernel_shape=[2, 2]),
        node("MaxPool", ["a"], ["y", "j"], name="second", kernel_shape=[2, 2]),
    ]
    outputs: list[Spec] = [("y", [1, 2, 4, 5]), ("j", [1, 2, 4, 5], onnx.TensorProto.INT64)]
    return model(nodes, [("x", [1, 2, 6, 7])], outputs if read else outputs[:1])


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_every_such_pool_is_refused_by_name(version: str) -> None:
    proto = two_pools(read=True)
    proto.opset_import[0].version = 13

    assert linted(proto, cann=version) == [
        ("first", "pool-indices", "rejected"),
        ("second", "pool-indices", "rejected"),
    ]
    with pytest.raises(StageError, match=r"'first' .*'i'.* not used\n.*'second' .*'j'"):
        emulate(proto, {}, cann=version)


def test_storage_order_is_refused() -> None:
    proto = pool("MaxPool", [1, 2, 6, 7], kernel_shape=[2, 2], storage_order=1)

    assert linted(proto) == [("pool", "pool-indices", "rejected")]
    with pytest.raises(StageError, match=r"'pool' .*storage_order is 1"):
        emulate(proto, {})


def test_lint_is_silent_about_values_only() -> None:
    proto = pool("MaxPool", [1, 2, 6, 7], kernel_shape=[2, 2], storage_order=0)

    assert linted(proto) == []


def test_dropping_what_nobody_reads_cures_it() -> None:
    x = numbers(1, 2, 6, 7)
    proto = two_pools(read=False)

    y = emulate(cured(proto, "drop-pool-indices"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
