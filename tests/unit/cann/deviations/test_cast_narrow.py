"""Cast against the steps of dynamic/cast.py, CANN 8.1.RC1, taken in numpy's own fp16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.emulation import Linted, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

INT8, UINT8, INT32 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32
FLOAT = TensorProto.FLOAT
NUMPY: dict[int, Any] = {INT8: np.int8, UINT8: np.uint8, INT32: np.int32}
X = np.array([0, 127, -128, 200, -200, 300, 1919, 2049, 4099, -5003, 60001, -1], np.int32)


def cast(
    source: int, to: int, constants: dict[str, np.ndarray] | None = None
) -> onnx.ModelProto:
    inputs: list[Any] = [] if constants else [("x", [12], source)]
    nodes = [node("Cast", ["x"], ["y"], name="cast", to=to)]
    return model(nodes, inputs, [("y", [12], to)], constants, opset=15)


def kernel(x: np.ndarray, offset: int, to: int) -> np.ndarray:
    """fp16(x), plus the offset, mod 256 with the divisor's sign, minus the offset."""
    half = x.astype(np.float16) + np.float16(offset)
    return np.asarray(
        (np.mod(half, np.float16(256)) - np.float16(offset)).astype(NUMPY[to])
    )


@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310P3", "Ascend910B1"])
@pytest.mark.parametrize("cann", ["6.0", "8.1"])
def test_int32_to_int8_goes_through_fp16(soc_version: str, cann: str) -> None:
    proto = cast(INT32, INT8)

    y = emulate(proto, {"x": X}, soc_version=soc_version, cann=cann)["y"]

    np.testing.assert_array_equal(y, kernel(X, 128, INT8))
    assert (y != run(proto, {"x": X})["y"]).sum() == 4  # 2049, 4099, -5003 and 60001


@pytest.mark.parametrize(
    ("soc_version", "cann"),
    [("Ascend310", "8.1"), ("Ascend910A", "8.1"), ("Ascend310P3", "6.0")],
)
def test_int32_to_uint8_goes_through_fp16(soc_version: str, cann: str) -> None:
    proto = cast(INT32, UINT8)

    y = emulate(proto, {"x": X}, soc_version=soc_version, cann=cann)["y"]

    np.testing.assert_array_equal(y, kernel(X, 0, UINT8))
    assert (y != run(proto, {"x": X})["y"]).sum() == 4


@pytest.mark.parametrize("soc_version", ["Ascend310P3", "Ascend910B1", "Ascend910_9391"])
def test_int32_to_uint8_saturates_on_later_socs(soc_version: str) -> None:
    proto = cast(INT32, UINT8)

    y = emulate(proto, {"x": X}, soc_version=soc_version, cann="8.1")["y"]

    np.testing.assert_array_equal(y, np.clip(X, 0, 255))
    assert (y != run(proto, {"x": X})["y"]).sum() == 9  # all but 0, 127 and 200


@pytest.mark.parametrize("to", [INT32, UINT8])
def test_fp32_to_whole_numbers_goes_through_fp16_on_310(to: int) -> None:
    x = np.linspace(0.25, 250, 12, dtype=F32)
    x[-1] = 254.97
    if to == INT32:
        x[:3] = [2049, -70000, 2051]
    proto = cast(FLOAT, to)

    y = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]

    half = np.clip(x, -65504, 65504).astype(np.float16)
    np.testing.assert_array_equal(y, np.trunc(half).astype(NUMPY[to]))
    assert y[-1] == 255  # 254.97 is between the fp16 numbers 254.875 and 255
    assert run(proto, {"x": x})["y"][-1] == 254
    kept = emulate(
        proto, {"x": x}, soc_version="Ascend310", precision_mode="must_keep_origin_dtype"
    )
    np.testing.assert_array_equal(kept["y"], run(proto, {"x": x})["y"])


@pytest.mark.parametrize(
    ("proto", "soc_version", "consequence"),
    [
        pytest.param(cast(INT32, INT8), "Ascend910B1", "silent", id="int8"),
        pytest.param(cast(INT32, UINT8), "Ascend910B1", "silent", id="uint8-direct"),
        pytest.param(cast(INT32, UINT8), "Ascend310", "silent", id="uint8"),
        pytest.param(cast(FLOAT, INT32), "Ascend310", "precision", id="fp32"),
    ],
)
def test_lint_names_the_node(
    proto: onnx.ModelProto, soc_version: str, consequence: str
) -> None:
    found = linted(proto, soc_version=soc_version)

    assert found == [Linted("cast", "cast-narrow", consequence)]


def test_a_constant_beyond_a_byte_is_named() -> None:
    proto = cast(INT32, UINT8, {"x": abs(X)})

    found = [Linted("cast", "cast-narrow", "silent")]
    assert linted(proto, "cast-narrow", soc_version="Ascend910B1") == found


@pytest.mark.parametrize(
    ("proto", "soc_version"),
    [
        pytest.param(cast(INT32, INT8, {"x": X[:6].repeat(2)}), "Ascend910B1", id="small"),
        pytest.param(
            cast(INT32, UINT8, {"x": abs(X[:4]).repeat(3)}), "Ascend910B1", id="byte"
        ),
        pytest.param(cast(INT32, FLOAT), "Ascend310", id="to-fp32"),
        pytest.param(cast(TensorProto.INT64, INT32), "Ascend310", id="int64"),
        pytest.param(cast(FLOAT, INT32), "Ascend910B1", id="fp32-elsewhere"),
        pytest.param(cast(FLOAT, TensorProto.INT64), "Ascend310", id="to-int64"),
        pytest.param(cast(UINT8, INT8), "Ascend310", id="uint8-to-int8"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto, soc_version: str) -> None:
    assert linted(proto, "cast-narrow", soc_version=soc_version) == []
