from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.convtranspose_attributes import ConvTransposeAttributes
from tests.editing import finding, why_skipped
from tests.models import model, node
from tests.windows import numbers, outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

RULE = ConvTransposeAttributes()


def transposed(shape: list[int | str], kernel: list[int], **kind: Any) -> onnx.ModelProto:
    dims = [f"d{axis}" for axis in range(len(shape))]
    return model(
        [node("ConvTranspose", ["x", "w", "b"], ["y"], **kind)],
        [("x", shape)],
        [("y", dims)],
        {"w": numbers(2, 3, *kernel), "b": numbers(3)},
    )


def at_random(count: int) -> Iterator[onnx.ModelProto]:
    random = np.random.default_rng(0)
    for _ in range(count):
        rank = int(random.integers(1, 4))
        kernel = random.integers(1, 5, rank).tolist()
        strides = random.integers(1, 4, rank).tolist()
        lengths = random.integers(2, 6, rank).tolist()
        kind: dict[str, Any] = {"strides": strides}
        kind["auto_pad"] = str(
            random.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        )
        if random.integers(0, 2):
            kind["output_padding"] = [int(random.integers(0, s)) for s in strides]
        if random.integers(0, 2) and kind["auto_pad"] != "VALID":
            kind["output_shape"] = [
                max(1, n * s - int(random.integers(0, 3)))
                for n, s in zip(lengths, strides, strict=True)
            ]
        yield transposed([1, 2, *lengths], kernel, **kind)


def test_values_are_kept_bit_by_bit() -> None:
    done = 0
    for proto in at_random(200):
        found, edited = finding(RULE, proto)
        done += isinstance(found, Applied)
        np.testing.assert_array_equal(*outputs(proto, edited))
        left = {a.name for a in edited.graph.node[0].attribute}
        assert isinstance(found, Skipped) or not left & {"output_shape", "auto_pad"}

    assert done > 150


@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        pytest.param(
            [1, 2, 4, 5],
            {"kernel_shape": [3, 3], "pads": [1] * 4},
            "it says",
            id="explicit",
        ),
        pytest.param(
            [1, 2, "h", 5], {"output_shape": [8, 10]}, "are not fixed", id="dynamic"
        ),
        pytest.param(
            [1, 2, 4, 5],
            {"strides": [2, 2], "output_shape": [12, 11]},
            "further than output_padding [3, 0]",
            id="too-far",
        ),
        pytest.param(
            [1, 2, 4, 5],
            {"strides": [4, 4], "auto_pad": "SAME_UPPER"},
            "shorter than its stride",
            id="same-too-far",
        ),
        pytest.param(
            [1, 2, 4, 5],
            {"strides": [2, 2], "auto_pad": "SAME_LOWER", "output_padding": [1, 0]},
            "beside output_padding",
            id="same-and-more",
        ),
    ],
)
def test_what_is_not_sure_is_skipped(
    shape: list[int | str], kind: dict[str, Any], reason: str
) -> None:
    assert reason in why_skipped(RULE, transposed(shape, [3, 3], **kind))
