"""Pools that run in fp16 whatever the mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.emulation import Linted, emulate, linted
from tests.halves import half
from tests.models import F32, model, node, run

NAME = "pool-fp16-only"
FOUND = [Linted("pool", NAME, "precision")]


def pool(op_type: str, rank: int = 4, dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
    window = {} if op_type.startswith("Global") else {"kernel_shape": [2] * (rank - 2)}
    return model(
        [node(op_type, ["x"], ["y"], name="pool", **window)],
        [("x", [1, 2, *[4] * (rank - 2)], dtype)],
        [("y", [f"d{axis}" for axis in range(rank)], dtype)],
    )


@pytest.mark.parametrize(
    "mode", ["force_fp32", "allow_fp32_to_fp16", "allow_mix_precision"]
)
def test_an_average_is_rounded_in_every_mode_that_may_lower_it(mode: str) -> None:
    x = np.random.default_rng(3).standard_normal((1, 2, 4, 4)).astype(F32)
    proto = pool("AveragePool")
    config = {"soc_version": "Ascend910B1", "precision_mode": mode}

    y = emulate(proto, {"x": x}, **config)["y"]

    np.testing.assert_array_equal(y, half(run(proto, {"x": half(x)})["y"]))
    assert np.abs(y - run(proto, {"x": x})["y"]).max() > 1e-5
    assert linted(proto, **config) == FOUND


@pytest.mark.parametrize(
    ("proto", "config", "expected"),
    [
        pytest.param(
            pool("MaxPool"),
            {"precision_mode": "allow_fp32_to_fp16"},
            FOUND,
            id="max-310P",
        ),
        pytest.param(
            pool("MaxPool"),
            {"precision_mode": "force_fp32", "soc_version": "Ascend910B1"},
            [],
            id="max-910B",
        ),
        pytest.param(pool("AveragePool"), {}, [], id="force-fp16"),
        pytest.param(
            pool("AveragePool"),
            {"precision_mode": "must_keep_origin_dtype"},
            [],
            id="ai-cpu",
        ),
        pytest.param(
            pool("MaxPool"),
            {"precision_mode": "allow_mix_precision", "soc_version": "Ascend910B1"},
            [],
            id="white-on-910B",
        ),
        pytest.param(
            pool("AveragePool", 5),
            {"precision_mode": "force_fp32", "soc_version": "Ascend910B1"},
            [],
            id="3-D-910B",
        ),
        pytest.param(
            pool("GlobalAveragePool"),
            {"precision_mode": "allow_fp32_to_fp16"},
            [],
            id="global",
        ),
        pytest.param(
            pool("AveragePool", dtype=TensorProto.FLOAT16),
            {"precision_mode": "must_keep_origin_dtype"},
            [],
            id="float16-data",
        ),
    ],
)
def test_it_is_found_where_the_mode_would_have_fp32(
    proto: onnx.ModelProto, config: dict[str, Any], expected: list[Linted]
) -> None:
    assert linted(proto, **config) == expected
