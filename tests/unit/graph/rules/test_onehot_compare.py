from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.onehot_compare import OneHotCompare
from tests.editing import finding, why_skipped
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from tests.models import Shape

KINDS = {
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "float32": TensorProto.FLOAT,
}


def onehot(
    shape: Shape = (2, 3), axis: int = -1, opset: int = 13, kind: str = "int64"
) -> onnx.ModelProto:
    depth = np.array(4, np.int64 if kind == "int64" else kind)
    return model(
        [node("OneHot", ["i", "depth", "values"], ["y"], name="onehot", axis=axis)],
        [("i", shape, KINDS[kind])],
        [("y", [f"y{each}" for each in range(len(shape) + 1)])],
        {"depth": depth, "values": np.array([-1, 2], F32)},
        opset,
    )


@given(
    indices=arrays(np.int64, (2, 3), elements=st.integers(-9, 9)),
    axis=st.integers(-3, 2),
    opset=st.sampled_from([11, 13, 17]),
    kind=st.sampled_from(["int32", "int64"]),
)
def test_every_value_is_the_same(
    indices: np.ndarray, axis: int, opset: int, kind: str
) -> None:
    proto = onehot((2, 3), axis, opset, kind)
    feeds = {"i": indices.astype(kind)}

    found, edited = finding(OneHotCompare(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(run(edited, feeds)["y"], run(proto, feeds)["y"])


@pytest.mark.parametrize("shape", [("N",), ("N", "M")])
def test_only_the_rank_must_be_known(shape: tuple[str, ...]) -> None:
    proto = onehot(shape)
    feeds = {"i": np.full((3,) * len(shape), -1)}

    found, edited = finding(OneHotCompare(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(run(edited, feeds)["y"], run(proto, feeds)["y"])


def _fed_depth() -> onnx.ModelProto:
    proto = onehot()
    proto.graph.input.append(
        onnx.helper.make_tensor_value_info("depth", TensorProto.INT64, [])
    )
    return proto


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(onehot(opset=10), "opset 10 says nothing", id="opset-10"),
        pytest.param(onehot(kind="float32"), "not int32 or int64", id="floats"),
        pytest.param(_fed_depth(), "its depth is not a constant", id="depth"),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, reason: str) -> None:
    assert reason in why_skipped(OneHotCompare(), proto)
