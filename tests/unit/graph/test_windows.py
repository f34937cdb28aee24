"""Windows of which the attributes do not fit together are none."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
import pytest

from ascendflow.graph.windows import Pads, read_window


def pool(rank: int = 4, **attributes: Any) -> ir.Node:
    value = ir.Value(name="x", shape=ir.Shape([1, 2, *[8] * (rank - 2)]))
    return ir.node("MaxPool", [value], {"kernel_shape": [3, 2], **attributes})


def test_window_has_the_defaults_of_onnx() -> None:
    window = read_window(pool())

    assert window is not None
    assert (window.strides, window.dilations, window.auto_pad) == ((1, 1), (1, 1), "NOTSET")
    assert window.pads == Pads((0, 0), (0, 0))


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [1]},
        {"strides": [1, 0]},
        {"dilations": [1, 1, 1]},
        {"dilations": [-1, 1]},
        {"pads": [1, 1, 1]},
        {"kernel_shape": [3, 0]},
        {"kernel_shape": [3]},
        {"rank": 5},
        {"auto_pad": ""},
        {"auto_pad": "SAME"},
    ],
    ids=str,
)
def test_attributes_that_do_not_fit_are_no_window(attributes: dict[str, Any]) -> None:
    assert read_window(pool(**attributes)) is None
