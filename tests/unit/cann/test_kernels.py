"""The table of kernels against the published tables, where they are at hand."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from ascendflow.cann.kernels import HALF, MIXED, WIDE, kernel, operators
from ascendflow.cann.soc import FAMILIES, soc

if TYPE_CHECKING:
    from pathlib import Path

FLOATS = {"float16": "h", "float": "f", "float32": "f"}
LETTERS = {HALF: "h", MIXED: "hf", WIDE: "f"}


def published(table: Path) -> dict[tuple[str, str], tuple[str, set[str] | None]]:
    """Read (operator, family) -> its list and its columns, None where the kernel says."""
    rows: dict[tuple[str, str], tuple[str, set[str] | None]] = {}
    with table.open() as file:
        for name, family, mix, types in list(csv.reader(file))[1:]:
            computed = types.startswith("computed")
            columns = None if computed else _columns(types.split(), name)
            rows[name, "ascend910a" if family == "ascend910" else family] = (mix, columns)
    return rows


def _columns(types: list[str], name: str) -> set[str]:
    found = set()
    for column in types:
        first, last = (FLOATS.get(each) for each in column.split(">"))
        if first is None and "Conv" in name:  # its first input holds sizes
            first = last and "h"
        if first is not None:
            found.add(first if last in (first, None) else f"{first}{last}")
    return found


def test_the_table_says_what_was_published(shared: Path) -> None:
    rows = published(shared / "knowledge" / "soc-dtypes.csv")

    for operator in sorted(operators()):
        for family in FAMILIES.values():
            found = kernel(operator, family)
            row = rows.get((operator, family.family))
            row = row or rows.get((operator.replace("TopKV2", "TopKD"), family.family))
            if row is None:
                assert found.columns == (), (operator, family.family)
                continue
            mix, columns = row
            assert found.mix == mix, (operator, family.family)
            assert found.is_read == (columns is not None), (operator, family.family)
            if columns is not None:
                ours = {LETTERS[column] for column in found.columns}
                assert ours == columns, (operator, family.family)


def test_a_family_without_a_kernel_has_no_columns_and_topk_has_an_older_one() -> None:
    assert kernel("ScatterElements", soc("Ascend310P3")).columns == ()
    assert kernel("TopKV2", soc("Ascend310")).columns == (HALF,)
    assert kernel("TopKV2", soc("Ascend310P3")).columns == (HALF, WIDE)


@pytest.mark.parametrize(
    ("operator", "soc_version", "columns"),
    [
        ("Conv2D", "Ascend310P3", (HALF,)),
        ("Conv2D", "Ascend910B1", (HALF, WIDE)),
        ("Mul", "Ascend310", (HALF, WIDE)),
        ("DynamicGRUV2", "Ascend310B1", (HALF,)),
        ("DynamicGRUV2", "Ascend910B1", (HALF, WIDE)),
    ],
)
def test_computed_columns_are_assumed_from_the_matrix_unit(
    operator: str, soc_version: str, columns: tuple[object, ...]
) -> None:
    found = kernel(operator, soc(soc_version))

    assert (found.columns, found.is_read) == (columns, False)


def test_of_an_unknown_operator_both_types_are_taken() -> None:
    for operator in (None, "NeverRead"):
        found = kernel(operator, soc("Ascend310"))
        assert (found.mix, found.columns, found.is_read) == ("gray", (HALF, WIDE), False)
