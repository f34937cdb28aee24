"""Conv without attributes; conv_plugin.cc, "at least one"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import StageError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import model, node, run
from tests.windows import numbers

if TYPE_CHECKING:
    import onnx


def convolutions(*kinds: dict[str, Any], rank: int = 2) -> onnx.ModelProto:
    """Make a chain of convolutions c0, c1, ... of two channels and a kernel of 3."""
    names = ["x", *(f"c{k}" for k in range(len(kinds)))]
    nodes = [
        node("Conv", [names[k], "w"], [names[k + 1]], **kind)
        for k, kind in enumerate(kinds)
    ]
    shape = [1, 2, *[9] * rank]
    weights = {"w": numbers(2, 2, *[3] * rank)}
    output = (names[-1], [f"d{axis}" for axis in range(rank + 2)])
    return model(nodes, [("x", shape)], [output], weights, opset=13)


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
@pytest.mark.parametrize("rank", [1, 2])
def test_every_bare_convolution_is_refused_by_name(version: str, rank: int) -> None:
    proto = convolutions({}, {"group": 1}, {"kernel_shape": [3] * rank}, rank=rank)

    assert linted(proto, cann=version) == [
        ("c0", "conv-attributes", "rejected"),
        ("c1", "conv-attributes", "rejected"),
    ]
    with pytest.raises(StageError, match=r"'c0' .*none of kernel_shape.*\n.*'c1'"):
        emulate(proto, {}, cann=version)


@pytest.mark.parametrize(
    "kind",
    [
        {"kernel_shape": [3, 3]},
        {"pads": [0, 0, 0, 0]},
        {"strides": [1, 1]},
        {"dilations": [1, 1]},
    ],
)
def test_lint_is_silent_where_one_is_there(kind: dict[str, Any]) -> None:
    assert linted(convolutions(kind)) == []


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_writing_kernel_shape_cures_it(version: str) -> None:
    proto = convolutions({}, {"group": 1})
    x = numbers(1, 2, 9, 9)

    y = emulate(cured(proto, "conv-attributes"), {"x": x}, **FP32, cann=version)["c1"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["c1"])
