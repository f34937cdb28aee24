from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.conv_attributes import ConvAttributes
from tests.editing import finding, why_skipped
from tests.models import Spec, model, node
from tests.windows import numbers, outputs

if TYPE_CHECKING:
    import onnx

RULE = ConvAttributes()


def convolution(kernel: list[int], **kind: Any) -> onnx.ModelProto:
    dims = [f"d{axis}" for axis in range(len(kernel) + 2)]
    shape: list[int | str] = [1, 2, *[7] * len(kernel)]
    return model(
        [node("Conv", ["x", "w"], ["y"], **kind)],
        [("x", shape)],
        [("y", dims)],
        {"w": numbers(3, 2, *kernel)},
    )


@pytest.mark.parametrize("kernel", [[3], [2, 3], [1, 2, 3]])
def test_kernel_shape_is_that_of_the_weights(kernel: list[int]) -> None:
    proto = convolution(kernel)

    found, edited = finding(RULE, proto)

    assert isinstance(found, Applied)
    assert found.after == {"kernel_shape": kernel}
    np.testing.assert_array_equal(*outputs(proto, edited))


def test_kernel_shape_is_left_alone() -> None:
    assert "it has" in why_skipped(RULE, convolution([2, 3], kernel_shape=[2, 3]))


def test_weights_of_unknown_shape_are_skipped() -> None:
    weights: list[int | str] = [3, 2, "h", "w"]
    inputs: list[Spec] = [("x", [1, 2, 7, 7]), ("w", weights)]
    proto = model(
        [node("Conv", ["x", "w"], ["y"])],
        inputs,
        [("y", ["a", "b", "c", "d"])],
    )

    assert "unknown" in why_skipped(RULE, proto)
