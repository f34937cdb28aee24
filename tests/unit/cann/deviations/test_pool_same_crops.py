"""auto_pad of a stride so long that the formula of ONNX pads by less than nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import run
from tests.windows import numbers, pool

AUTO_PADS = ["SAME_UPPER", "SAME_LOWER"]


@pytest.mark.parametrize("auto_pad", AUTO_PADS)
@pytest.mark.parametrize(
    ("op_type", "name"),
    [
        ("LpPool", "lppool-same-crops"),
        ("MaxPool", "pool-same-crops"),
        ("AveragePool", "pool-same-crops"),
    ],
)
def test_what_is_cropped_is_not_modelled(op_type: str, name: str, auto_pad: str) -> None:
    # (ceil(8 / 5) - 1) * 5 + 1 - 8 = -2
    proto = pool(op_type, [1, 2, 8], kernel_shape=[1], strides=[5], auto_pad=auto_pad)

    assert linted(proto) == [("pool", name, "unknown")]
    with pytest.raises(NotModelledError, match=rf"'pool' .*{auto_pad} pads by \[-2\]"):
        emulate(proto, {})


def test_one_axis_that_is_cropped_is_enough() -> None:
    kind: dict[str, Any] = {"kernel_shape": [1, 3], "strides": [5, 1]}
    proto = pool("MaxPool", [1, 2, 8, 6], auto_pad="SAME_UPPER", **kind)

    assert linted(proto) == [("pool", "pool-same-crops", "unknown")]


@pytest.mark.parametrize("lengths", [[6], ["h"]], ids=["nothing-to-pad", "dynamic"])
@pytest.mark.parametrize("op_type", ["LpPool", "MaxPool", "AveragePool"])
def test_lint_is_silent_where_nothing_is_known_to_be_cropped(
    op_type: str, lengths: list[int | str]
) -> None:
    kind: dict[str, Any] = {"kernel_shape": [1], "strides": [5], "auto_pad": "SAME_UPPER"}

    assert linted(pool(op_type, [1, 2, *lengths], **kind)) == []


@pytest.mark.parametrize("auto_pad", AUTO_PADS)
def test_a_slice_cures_it(auto_pad: str) -> None:
    x = numbers(1, 2, 9)
    kind: dict[str, Any] = {"kernel_shape": [2], "strides": [5], "auto_pad": auto_pad}
    proto = pool("LpPool", x.shape, **kind)

    y = emulate(cured(proto, "auto-pad-to-pads"), {"x": x}, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
