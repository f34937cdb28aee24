"""Round on Ascend310 against round.py of CANN 8.1.RC1: fp16 first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.emulation import Linted, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

KEEP = {"precision_mode": "must_keep_origin_dtype"}
X = np.array([2.5, 3.5, -0.5, 1023.7, 2049, 4099.4, -70000, 1e6], F32)


def rounding() -> onnx.ModelProto:
    return model([node("Round", ["x"], ["y"], name="round")], [("x", [8])], [("y", [8])])


def test_fp32_is_rounded_to_fp16_first() -> None:
    y = emulate(rounding(), {"x": X}, soc_version="Ascend310", **KEEP)["y"]

    half = np.clip(X, -65504, 65504).astype(np.float16)
    np.testing.assert_array_equal(y, np.rint(half).astype(F32))
    right = run(rounding(), {"x": X})["y"]
    assert (y - right).tolist() == [0, 0, 0, 0, -1, 1, 4496, 65504 - 1e6]


def test_lint_names_the_node() -> None:
    found = linted(rounding(), soc_version="Ascend310", **KEEP)

    assert found == [Linted("round", "round-310", "precision")]


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"soc_version": "Ascend310P3"} | KEEP, id="310P"),
        pytest.param({"soc_version": "Ascend910B1"} | KEEP, id="910B"),
        pytest.param({"soc_version": "Ascend310"}, id="force_fp16"),
    ],
)
def test_lint_is_silent_on_the_others(config: dict[str, str]) -> None:
    assert linted(rounding(), **config) == []
