from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.clip_unbounded import ClipUnbounded
from tests.editing import finding, why_skipped
from tests.models import F32, model, node, run

FLOAT, HALF, INT64 = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.INT64,
)
X = [-np.inf, -3e38, 0, np.inf]


def clip(
    *bounds: str, opset: int = 13, kind: int = FLOAT, **attributes: Any
) -> onnx.ModelProto:
    constants = {name: np.array(1, F32) for name in bounds if name}
    nodes = [node("Clip", ["x", *bounds], ["y"], name="clip", **attributes)]
    return model(nodes, [("x", [4], kind)], [("y", [4], kind)], constants, opset)


@pytest.mark.parametrize("proto", [clip(), clip(""), clip("", ""), clip(opset=11)])
def test_bounds_are_written_out_and_clip_infinities_as_before(
    proto: onnx.ModelProto,
) -> None:
    found, edited = finding(ClipUnbounded(), proto)

    assert isinstance(found, Applied)
    onnx.checker.check_model(edited, full_check=True)
    (left,) = edited.graph.node
    bounds = {t.name: onnx.numpy_helper.to_array(t) for t in edited.graph.initializer}
    limits = np.finfo(F32)
    assert [bounds[name] for name in left.input[1:]] == [limits.min, limits.max]
    x = {"x": np.array(X, F32)}
    made = run(edited, x)["y"]
    np.testing.assert_array_equal(made, run(proto, x)["y"])
    assert made[0] == np.finfo(F32).min  # so Identity would not have done


@pytest.mark.parametrize("kind", [HALF, INT64], ids=["float16", "int64"])
def test_other_types_keep_their_values_too(kind: int) -> None:
    proto = clip(kind=kind)
    if kind == HALF:
        x = {"x": np.array([-np.inf, -65504, 0, np.inf], np.float16)}
    else:
        x = {"x": np.array([-(2**63), 2**63 - 1, 0, 5], np.int64)}

    found, edited = finding(ClipUnbounded(), proto)

    assert isinstance(found, Applied)
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])
    (left,) = edited.graph.node
    assert (left.name, left.op_type) == ("clip", "Clip" if kind == HALF else "Identity")


def test_a_type_without_known_limits_is_skipped() -> None:
    found, _ = finding(ClipUnbounded(), clip(kind=onnx.TensorProto.BFLOAT16))

    assert isinstance(found, Skipped)
    assert "bfloat16" in found.reason


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(clip("low"), "it has a bound", id="min"),
        pytest.param(clip("", "high"), "it has a bound", id="max"),
        pytest.param(clip(opset=10), "as attributes", id="opset-10"),
        pytest.param(clip(opset=10, min=0.0), "as attributes", id="opset-10-min"),
    ],
)
def test_one_that_clips_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ClipUnbounded(), proto)
