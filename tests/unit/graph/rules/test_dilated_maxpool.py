from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.dilated_maxpool import DilatedMaxPool
from tests.editing import applied, finding, why_skipped
from tests.models import F32, model, node, run
from tests.windows import outputs, pool, random_pools

RULE = DilatedMaxPool()
ATROUS: dict[str, Any] = {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [2, 1, 1, 0]}


def test_values_are_kept_bit_by_bit() -> None:
    done = 0
    for proto in random_pools("MaxPool", 150):
        found, edited = finding(RULE, proto)
        np.testing.assert_array_equal(*outputs(proto, edited))
        done += isinstance(found, Applied)

    assert done > 80


@pytest.mark.parametrize("opset", [10, 11, 13, 17, 18, 21])
def test_every_opset_is_written(opset: int) -> None:
    proto = pool("MaxPool", [1, 2, 9, 8], opset, **ATROUS)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    assert {n.op_type for n in edited.graph.node} == {"Pad", "Slice", "Max"}
    np.testing.assert_array_equal(*outputs(proto, edited))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint8])
def test_the_padding_has_the_type_of_the_data(dtype: Any) -> None:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = model(
        [node("MaxPool", ["x"], ["y"], **ATROUS)],
        [("x", [1, 2, 9, 8], number)],
        [("y", ["a", "b", "c", "d"], number)],
    )

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(*outputs(proto, edited, dtype))


def test_a_branch_is_rewritten_with_its_own_constants() -> None:
    inner = pool("MaxPool", [1, 2, 9, 8], **ATROUS).graph
    taken = onnx.helper.make_graph(inner.node, "taken", [], inner.output)
    taken.node[0].input[0] = "outer"
    taken.output[0].name = taken.node[0].output[0] = "pooled"
    other = onnx.helper.make_graph(
        [node("Identity", ["outer"], ["same"])],
        "other",
        [],
        [onnx.ValueInfoProto(name="same")],
    )
    other.output[0].CopyFrom(inner.output[0])
    other.output[0].name = "same"
    proto = model(
        [
            node("Relu", ["x"], ["outer"]),
            node("If", ["yes"], ["y"], then_branch=taken, else_branch=other),
        ],
        [("x", [1, 2, 9, 8])],
        [("y", ["a", "b", "c", "d"])],
        {"yes": np.array(True)},
    )

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    assert [t.name for t in edited.graph.initializer] == ["yes"]
    np.testing.assert_array_equal(*outputs(proto, edited))


def test_values_below_minus_65504_are_kept() -> None:
    x = np.full((1, 1, 9, 8), -1e30, F32)
    proto = pool("MaxPool", x.shape, **ATROUS)

    _, edited = finding(RULE, proto)

    np.testing.assert_array_equal(run(edited, {"x": x})["y"], run(proto, {"x": x})["y"])


PADDING_ALONE = [
    pytest.param([1], {"kernel_shape": [2], "dilations": [2], "pads": [1, 1]}, id="all"),
    pytest.param([8], {"kernel_shape": [2], "dilations": [9], "pads": [1, 1]}, id="ends"),
    pytest.param(
        [2, 6],
        {"kernel_shape": [2, 2], "dilations": [3, 2], "pads": [1, 1, 1, 1]},
        id="2-d",
    ),
    pytest.param(
        [5, 4],
        {
            "kernel_shape": [2, 3],
            "dilations": [6, 1],
            "pads": [1, 1, 1, 1],
            "strides": [1, 2],
        },
        id="strides",
    ),
]


@pytest.mark.parametrize(("lengths", "kind"), PADDING_ALONE)
@pytest.mark.parametrize("dtype", [F32, np.float64, np.float16, np.int8, np.uint8])
@pytest.mark.parametrize("data", ["random", "least"])
def test_windows_of_padding_alone_are_what_onnxruntime_makes_of_them(
    lengths: list[int], kind: dict[str, Any], dtype: Any, data: str
) -> None:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    shape = [2, 3, *lengths]
    proto = model(
        [node("MaxPool", ["x"], ["y"], **kind)],
        [("x", shape, number)],
        [("y", [f"d{axis}" for axis in range(len(shape))], number)],
    )
    x = (np.random.default_rng(0).uniform(0, 1, shape) * 20).astype(dtype)
    if data == "least":
        x[:] = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min

    y = run(applied(RULE, proto), {"x": x})["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])


def test_a_window_of_padding_alone_is_where_runtimes_differ() -> None:
    """PyTorch gives -inf there; a golden of onnxruntime has the least finite number."""
    kind: dict[str, Any] = {"kernel_shape": [2], "dilations": [2], "pads": [1, 1]}
    proto = pool("MaxPool", [1, 1, 1], **kind)
    x = np.ones((1, 1, 1), F32)

    assert run(proto, {"x": x})["y"].item() == np.finfo(F32).min
    assert run(applied(RULE, proto), {"x": x})["y"].item() == np.finfo(F32).min


@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        pytest.param([1, 1, 9, 8], {"dilations": [1, 1]}, "no gaps", id="no-gaps"),
        pytest.param([1, 1, "h", 8], {}, "are not fixed", id="dynamic"),
        pytest.param(
            [1, 1, 9, 8], {"pads": None, "auto_pad": "SAME_LOWER"}, "in two ways", id="same"
        ),
    ],
)
def test_what_is_not_sure_is_skipped(
    shape: list[int | str], kind: dict[str, Any], reason: str
) -> None:
    given = {k: v for k, v in (ATROUS | kind).items() if v is not None}

    assert reason in why_skipped(RULE, pool("MaxPool", shape, **given))


def test_a_pool_with_indices_is_skipped() -> None:
    dims = ["a", "b", "c", "d"]
    proto = model(
        [node("MaxPool", ["x"], ["y", "i"], **ATROUS)],
        [("x", [1, 2, 9, 8])],
        [("y", dims), ("i", dims, onnx.TensorProto.INT64)],
    )

    found, _ = finding(RULE, proto)

    assert isinstance(found, Skipped)
    assert "Indices" in found.reason
