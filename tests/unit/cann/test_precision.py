from __future__ import annotations

from typing import Any

import pytest

from ascendflow import vocabulary
from ascendflow.cann.gap import Gap
from ascendflow.cann.precision import HALF, MIXED, MODELLED, WIDE, node_precision
from ascendflow.cann.soc import soc

KEEP, WIDER = "must_keep_origin_dtype", "force_fp32"


def test_the_modelled_modes_are_atcs() -> None:
    assert set(MODELLED) <= set(vocabulary.PRECISION_MODES)


@pytest.mark.parametrize("op_type", ["Conv", "MaxPool", "AveragePool", "Exp", "Add"])
@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310P3", "Ascend910B1"])
def test_force_fp16_forces_everything(op_type: str, soc_version: str) -> None:
    assert node_precision(op_type, "float32", 4, "force_fp16", soc(soc_version)) == HALF


# Kernel types as published per SoC: see the module's sources.
@pytest.mark.parametrize(
    ("op_type", "rank", "mode", "soc_version", "expected"),
    [
        ("Add", 4, KEEP, "Ascend310", WIDE),
        ("Conv", 4, KEEP, "Ascend310B1", WIDE),
        ("Conv", 3, KEEP, "Ascend910B1", WIDE),
        ("Conv", 4, KEEP, "Ascend310P3", Gap),
        ("Conv", 4, KEEP, "Ascend910A", Gap),
        ("Conv", 5, KEEP, "Ascend910B1", WIDE),
        ("Conv", 5, KEEP, "Ascend310B1", Gap),
        ("Conv", 5, WIDER, "Ascend310B1", HALF),
        ("MatMul", 2, KEEP, "Ascend310P3", Gap),
        ("MatMul", 2, WIDER, "Ascend910B1", WIDE),
        ("ConvTranspose", 4, WIDER, "Ascend910B1", MIXED),
        ("ConvTranspose", 4, WIDER, "Ascend310B1", WIDE),
        ("ConvTranspose", 4, KEEP, "Ascend910B1", WIDE),
        ("ConvTranspose", 5, KEEP, "Ascend910B1", Gap),
        ("AveragePool", 4, KEEP, "Ascend310P3", WIDE),
        ("AveragePool", 4, WIDER, "Ascend910B1", HALF),
        ("AveragePool", 5, WIDER, "Ascend910B1", WIDE),
        ("AveragePool", 5, KEEP, "Ascend310P3", Gap),
        ("GlobalAveragePool", 4, WIDER, "Ascend910B1", WIDE),
        ("MaxPool", 4, KEEP, "Ascend910B1", WIDE),
        ("MaxPool", 4, KEEP, "Ascend310B1", Gap),
        ("MaxPool", 4, WIDER, "Ascend310B1", HALF),
        ("Exp", 4, KEEP, "Ascend310", Gap),
        ("Exp", 4, KEEP, "Ascend310P3", WIDE),
    ],
)
def test_wide_modes_give_fp32_where_a_kernel_has_it(
    op_type: str, rank: int, mode: str, soc_version: str, expected: Any
) -> None:
    found = node_precision(op_type, "float32", rank, mode, soc(soc_version))

    assert found == expected or (expected is Gap and isinstance(found, Gap))


def test_float16_stays_under_must_keep_and_is_not_modelled_under_force_fp32() -> None:
    family = soc("Ascend910B1")

    assert node_precision("Conv", "float16", 4, KEEP, family) == HALF
    assert isinstance(node_precision("Add", "float16", 4, WIDER, family), Gap)
