"""Expected values are those of CANN's installation guides, release by release."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.backends.cann.needs import (
    FIRST_PYTHON,
    ROWS,
    dotted,
    needs,
    numbers,
    release_of,
)


@pytest.mark.parametrize(
    ("cann", "last_python", "numpy"),
    [
        ("5.1", (3, 9), ">=1.14.3,<2.0"),
        ("6.2.RC2", (3, 10), ">=1.19.2,<2.0"),
        ("8.0.0", (3, 11), ">=1.19.2,<1.25"),
        ("8.1.RC1", (3, 11), ">=1.19.2,<1.25"),
        ("8.5.0.alpha001", (3, 11), ">=1.19.2,<1.25"),
        ("8.5.0", (3, 13), ">=1.19.2,<2.0; with Python 3.13 >=2.1"),
        ("9.0.0.beta1", (3, 13), ">=1.19.2,<2.0; with Python 3.13 >=2.1"),
        ("9.0.0", (3, 13), ">=1.19.2"),
        ("9.1.0.beta1", (3, 13), ">=1.19.2"),
        ("9.1.0", (3, 14), ">=1.19.2"),
        ("12.0", (3, 14), ">=1.19.2"),
    ],
)
def test_a_release_needs_what_its_guide_says(
    cann: str, last_python: tuple[int, int], numpy: str
) -> None:
    row = needs(cann)

    assert row is not None
    assert row.last_python == last_python
    assert row.numpy_words() == numpy


def test_with_python_313_cann_85_takes_numpy_2_alone() -> None:
    row = needs("8.5.0")

    assert row is not None
    assert row.numpy((3, 12, 1)) == ((1, 19, 2), (2, 0))
    assert row.numpy((3, 13, 0)) == ((2, 1), None)


def test_the_page_has_a_row_for_each() -> None:
    page = (Path(__file__).parents[4] / "docs" / "doctor.md").read_text()
    table = [
        line.strip("| ").split(" | ") for line in page.splitlines() if "| 3.7 to" in line
    ]

    assert [cells[1:] for cells in table] == [
        [f"{dotted(FIRST_PYTHON)} to {dotted(row.last_python)}", row.numpy_words()]
        for row in ROWS
    ]
    assert [cells[0].split()[0] for cells in table] == [dotted(row.since) for row in ROWS]
    assert all(one.since < other.since for one, other in pairwise(ROWS))


@pytest.mark.parametrize("cann", [None, "", "V100R001C21", "4.9", "9" * 5000 + ".1"])
def test_of_what_is_no_known_version_nothing_is_said(cann: str | None) -> None:
    assert needs(cann) is None


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("3.11.4", (3, 11, 4)),
        ("2.0.0rc1", (2, 0, 0)),
        ("2.13.0+cpu", (2, 13, 0)),
        ("", ()),
        ("v1", ()),
        ("9" * 5000, (999999999,)),
    ],
)
def test_the_leading_numbers_are_read(version: str, found: tuple[int, ...]) -> None:
    assert numbers(version) == found


@given(st.text())
def test_any_text_is_a_version_or_none(text: str) -> None:
    assert all(isinstance(number, int) for number in numbers(text))
    release_of(text)
    needs(text)
