"""Our metrics against what msaccucmp prints of the same pairs of tensors."""

from __future__ import annotations

import math
import re
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.cann.dump.results import METRICS as TITLES
from ascendflow.metrics.measure import measure
from ascendflow.metrics.pairs import kind_of
from ascendflow.metrics.registry import METRICS
from tests.msaccucmp import peer
from tests.msaccucmp.differences import DIFFERENCES, exact, single
from tests.msaccucmp.formulas import METRICS as SHARED
from tests.msaccucmp.pairs import pairs
from tests.wheels import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.msaccucmp.differences import Difference, Given

    Array = NDArray[Any]

pytestmark = pytest.mark.slow

PAIRS = pairs()
NAMES = {ours: title for title, ours in TITLES.items() if ours}
RELATIVE, ABSOLUTE = 1e-5, 1e-6
"""It computes in float32 and prints six decimals."""
NARROW = 1e-9
"""Of ours against long double: it is float64, and sums as many as 10,000 elements."""
PAGE = (REPOSITORY / "docs" / "metrics.md").read_text()
WRITTEN = [
    f"{side}_{what}"
    for side in ("target", "golden")
    for what in ("mean", "standard_deviation")
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    folder: Path = tmp_path_factory.mktemp("pairs")
    for place, side in enumerate(("golden", "target")):
        (folder / side).mkdir()
        for name, pair in PAIRS.items():
            np.save(folder / side / f"{name}.npy", pair[place])
    rows: dict[str, dict[str, str]] = peer.run("print_metrics.py", folder)
    return rows


def agree(one: float, other: float, relative: float, absolute: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= absolute + relative * abs(one)


def difference(metric: str, golden: Array, target: Array) -> Difference | None:
    of_it = (each for each in DIFFERENCES if metric in each.metrics)
    return next((each for each in of_it if each.holds(golden, target)), None)


def given(value: Given, metric: str, golden: Array, target: Array) -> float:
    return value(metric, golden, target) if callable(value) else value


def ours(metric: str, golden: Array, target: Array) -> float:
    function = resolve_name(f"ascendflow.metrics.{METRICS[metric].definition}")
    return float(function(golden, target))


def test_there_are_enough_pairs_of_every_kind() -> None:
    kinds = {name.partition("-")[0] for name in PAIRS}

    assert len(PAIRS) >= 200
    assert kinds >= {"random", "natural", "half", "bool", "zeros", "nan", "inf", "empty"}
    assert kinds >= {"single", "huge", "tiny", "integers", "bfloat"}
    assert set(NAMES) == set(SHARED)


@pytest.mark.parametrize("metric", SHARED)
def test_values_are_the_tools_but_for_the_differences_that_are_listed(
    metric: str, printed: dict[str, dict[str, str]]
) -> None:
    wrong = []
    for name, (golden, target) in PAIRS.items():
        mine, its = ours(metric, golden, target), float(printed[name][NAMES[metric]])
        known = difference(metric, golden, target)
        if known is None:
            is_right = agree(mine, its, RELATIVE, ABSOLUTE)
        else:
            expected = given(known.ours, metric, golden, target)
            is_right = agree(expected, mine, NARROW, NARROW)
            expected = given(known.theirs, metric, golden, target)
            is_right &= agree(expected, its, RELATIVE, ABSOLUTE)
        if not is_right:
            wrong.append((name, mine, its, known and known.when))
    assert wrong == []


@pytest.mark.parametrize("each", DIFFERENCES, ids=lambda each: f"{each.when}, {each.of}")
def test_each_difference_is_seen_and_on_the_page(
    each: Difference, printed: dict[str, dict[str, str]]
) -> None:
    differ = [
        (name, metric)
        for name, pair in PAIRS.items()
        for metric in each.metrics
        if difference(metric, *pair) is each
        and not agree(
            ours(metric, *pair), float(printed[name][NAMES[metric]]), RELATIVE, ABSOLUTE
        )
    ]
    assert differ != []
    assert each.row in PAGE


def test_page_lists_no_other_difference() -> None:
    section = PAGE.partition("## Against msaccucmp")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|.*\|$", section, re.MULTILINE)

    assert rows[2:] == [each.row for each in DIFFERENCES]


def test_accumulated_error_is_off_by_no_more_than_the_page_says() -> None:
    metric = "accumulated_relative_error"
    for golden, target in PAIRS.values():
        known = difference(metric, golden, target)
        if known is DIFFERENCES[-1]:
            off = abs(single(metric, golden, target) - exact(metric, golden, target))
            assert off <= 6e-8 * golden.size + RELATIVE * exact(metric, golden, target)


def test_divergence_near_zero_is_float32s(printed: dict[str, dict[str, str]]) -> None:
    """Its six decimals are too coarse to compare there: a transcription is held to them."""
    metric, near = "kl_divergence", 0
    for name, (golden, target) in PAIRS.items():
        its = float(printed[name][NAMES[metric]])
        if golden.dtype != bool and abs(its) < 1e-3:
            near += 1
            assert agree(single(metric, golden, target), its, RELATIVE, ABSOLUTE), name
            theirs = single(metric, golden, target)
            # Some six roundings of 2^-24 are in each ratio and in the sum.
            assert agree(ours(metric, golden, target), theirs, RELATIVE, 4e-7), name
    assert near > 100


def test_means_and_deviations_are_the_tools(printed: dict[str, dict[str, str]]) -> None:
    seen = 0
    for name, (golden, target) in PAIRS.items():
        if golden.dtype not in (np.float16, np.float32) or not golden.size:
            continue
        if not (np.isfinite(golden).all() and np.isfinite(target).all()):
            continue
        text = printed[name]["StandardDeviation"]
        found = re.fullmatch(r"\((.*);(.*)\),\((.*);(.*)\)", text)
        assert found is not None, text
        statistics = measure(golden, target).statistics
        for its, side in zip(found.groups(), WRITTEN, strict=True):
            value, seen = statistics[side], seen + 1
            # It prints three decimals, and 0 of what is below 0.001.
            assert agree(
                value, float(its), 1e-6, 1.001e-3 if float(its) == 0 else 5.01e-4
            ), name
    assert seen > 800


def test_what_is_measured_in_one_pass_is_what_is_compared_here() -> None:
    for name, (golden, target) in PAIRS.items():
        if kind_of(golden.dtype) == "float":
            measured = measure(golden, target).metrics
            for metric in SHARED:
                assert agree(ours(metric, golden, target), measured[metric], 1e-6, 1e-12), (
                    name,
                    metric,
                )


def test_value_that_is_off_is_found() -> None:
    assert not agree(1.0, 1.0 + 2.2e-5, RELATIVE, ABSOLUTE)
    assert not agree(0.0, 1.1e-6, RELATIVE, ABSOLUTE)
    assert not agree(math.nan, 0.0, RELATIVE, ABSOLUTE)
    assert not agree(math.inf, 1e300, RELATIVE, ABSOLUTE)
