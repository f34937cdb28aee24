from __future__ import annotations

from typing import Any

import onnx_ir as ir
import pytest

from ascendflow.cann.big_pools import lost
from ascendflow.graph.windows import read_window


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"ceil_mode": 1}, [("ceil_mode", "ceil_mode, output [2] instead of [3]")]),
        ({"auto_pad": "SAME_UPPER"}, [("auto_pad", "auto_pad SAME_UPPER, pads [0, 1]")]),
        ({"pads": [1, 1]}, []),
    ],
)
def test_what_is_lost_comes_with_its_attribute(
    attributes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    pool = ir.node(
        "MaxPool",
        [ir.val("x", shape=[1, 1, 5])],
        {"kernel_shape": [2], "strides": [2], **attributes},
    )
    window = read_window(pool)
    assert window is not None

    assert list(lost(pool, window)) == expected
