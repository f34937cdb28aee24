from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.gridsample_attributes import GridSampleAttributes
from tests.editing import finding
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx


def gridsample(opset: int = 16, **attributes: Any) -> onnx.ModelProto:
    return model(
        [node("GridSample", ["x", "grid"], ["y"], name="sample", **attributes)],
        [("x", [1, 2, 4, 5]), ("grid", [1, 3, 3, 2])],
        [("y", [1, 2, 3, 3])],
        opset=opset,
    )


@pytest.mark.parametrize(
    ("proto", "added"),
    [
        pytest.param(
            gridsample(), {"mode": "bilinear", "padding_mode": "zeros"}, id="both"
        ),
        pytest.param(gridsample(mode="nearest"), {"padding_mode": "zeros"}, id="padding"),
        pytest.param(
            gridsample(padding_mode="border", align_corners=1),
            {"mode": "bilinear"},
            id="mode",
        ),
        pytest.param(
            gridsample(20), {"mode": "linear", "padding_mode": "zeros"}, id="opset-20"
        ),
    ],
)
def test_defaults_are_written_out_and_change_nothing(
    proto: onnx.ModelProto, added: dict[str, str]
) -> None:
    rng = np.random.default_rng(0)
    feeds = {
        "x": rng.standard_normal((1, 2, 4, 5)).astype(F32),
        "grid": rng.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(F32),
    }

    found, edited = finding(GridSampleAttributes(), proto)

    assert isinstance(found, Applied)
    assert found.after == added
    np.testing.assert_array_equal(run(edited, feeds)["y"], run(proto, feeds)["y"])


def test_a_node_that_has_both_is_skipped() -> None:
    proto = gridsample(mode="bilinear", padding_mode="zeros")

    found, edited = finding(GridSampleAttributes(), proto)

    assert isinstance(found, Skipped)
    assert edited.graph.node == proto.graph.node
