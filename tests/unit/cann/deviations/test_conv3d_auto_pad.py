"""auto_pad of volumes; conv_plugin.cc, "unsupported other value for now"."""

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


def convolution(rank: int = 3, name: str = "conv", **kind: Any) -> onnx.ModelProto:
    made = node("Conv", ["x", "w"], ["y"], name=name, kernel_shape=[2] * rank, **kind)
    output = ("y", [f"d{axis}" for axis in range(rank + 2)])
    shape = [1, 2, *[5] * rank]
    return model(
        [made], [("x", shape)], [output], {"w": numbers(2, 2, *[2] * rank)}, opset=13
    )


@pytest.mark.parametrize(
    ("auto_pad", "version"),
    [
        ("SAME_UPPER", "6.0"),
        ("SAME_LOWER", "8.1"),
        ("SAME_LOWER", "9.1"),
        ("VALID", "6.0"),
        ("VALID", "8.1"),
    ],
)
def test_it_is_refused_by_name(auto_pad: str, version: str) -> None:
    proto = convolution(auto_pad=auto_pad)

    assert linted(proto, cann=version) == [("conv", "conv3d-auto-pad", "rejected")]
    with pytest.raises(StageError, match=rf"'conv' .*auto_pad is {auto_pad} on three"):
        emulate(proto, {}, cann=version, soc_version="Ascend910B1")


@pytest.mark.parametrize(
    ("rank", "kind", "version"),
    [
        pytest.param(3, {"auto_pad": "VALID"}, "9.1", id="valid-in-master"),
        pytest.param(3, {"auto_pad": "NOTSET"}, "6.0", id="not-set"),
        pytest.param(3, {"pads": [1] * 6}, "6.0", id="pads"),
        pytest.param(2, {"auto_pad": "SAME_LOWER"}, "6.0", id="2-d"),
        pytest.param(1, {"auto_pad": "SAME_UPPER"}, "9.1", id="1-d"),
    ],
)
def test_lint_is_silent_elsewhere(rank: int, kind: dict[str, Any], version: str) -> None:
    assert linted(convolution(rank, **kind), cann=version) == []


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_explicit_pads_cure_it(auto_pad: str, version: str) -> None:
    proto = convolution(auto_pad=auto_pad)
    x = numbers(1, 2, 5, 5, 5)

    y = emulate(cured(proto, "auto-pad-to-pads"), {"x": x}, **FP32, cann=version)["y"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["y"])
