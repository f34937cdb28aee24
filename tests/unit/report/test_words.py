from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ascendflow.report import words
from tests.reports import check

UNLIMITED = st.floats(allow_nan=False, allow_infinity=False, width=64)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9312, "0.9312"), (1 / 3, "0.333333"), ("NaN", "NaN"), (None, ""), (0, "0")],
)
def test_a_number_is_written_with_six_digits(value: float | str | None, text: str) -> None:
    assert words.shown(value) == text


def test_a_value_just_below_its_threshold_does_not_read_as_the_threshold() -> None:
    judged = check("cosine_similarity", 0.99899999991, {"min": 0.999})

    assert words.value_words(judged) == "0.9989999999"


def test_a_cosine_that_is_nearly_1_does_not_read_as_1() -> None:
    judged = check("cosine_similarity", 0.9999996, {"min": 0.999})

    assert words.value_words(judged) == words.near_one(0.9999996) == "1 - 4e-07"


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        pytest.param(0.99999989, 0.9999999, "1 - 1.1e-07", id="two-digits-tell"),
        pytest.param(1 - 1.004e-07, 1 - 1e-07, "1 - 1.004e-07", id="more-are-needed"),
        pytest.param(1 - 1e-07, 1 - 1e-07, "1 - 1e-07", id="equal"),
        pytest.param(1.0, 0.999, "1", id="one"),
    ],
)
def test_what_is_nearly_1_is_told_from_a_limit_that_is_too(
    value: float, limit: float, text: str
) -> None:
    assert words.value_words(check("cosine_similarity", value, {"min": limit})) == text


def test_a_value_one_bit_below_its_threshold_is_written_whole() -> None:
    judged = check("cosine_similarity", 0.9989999999999999, {"min": 0.999})

    assert words.value_words(judged) == "0.9989999999999999"


def test_a_value_equal_to_its_threshold_reads_as_the_threshold() -> None:
    judged = check("cosine_similarity", 0.999, {"min": 0.999})

    assert words.value_words(judged) == "0.999"


@given(value=UNLIMITED, bound=st.sampled_from(["min", "max"]))
def test_the_tightest_threshold_as_printed_passes(value: float, bound: str) -> None:
    text = words.tightest_words(check("max_absolute_error", value, {bound: 0.5}))
    assume(text not in ("inf", "-inf"))

    assert float(text) <= value if bound == "min" else float(text) >= value


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        pytest.param(0.99900014, {"min": 0.9990001}, "0.9990001", id="min"),
        pytest.param(0.01000001, {"max": 0.01000002}, "0.01000001", id="max"),
        pytest.param(1 / 3, {"max": 1 / 3}, "0.3333333333333333", id="the-limit-itself"),
        pytest.param(0.99900014, {"min": 0.9995}, "0.999", id="failed"),
    ],
)
def test_the_tightest_threshold_is_never_looser_than_the_one_that_was_met(
    value: float, limit: dict[str, float], text: str
) -> None:
    assert words.tightest_words(check("max_absolute_error", value, limit)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1 - 2.6e-8, "0.99999997"), (1 - 2e-16, "0.9999999999999998"), (1.0, "1")],
)
def test_the_tightest_cosine_near_1_is_nearer_than_six_digits_can_say(
    value: float, text: str
) -> None:
    judged = check("cosine_similarity", value, {"min": 0.999})

    assert words.tightest_words(judged) == text
    assert float(text) <= value


def test_a_tightest_threshold_that_is_short_is_not_rounded_away() -> None:
    # The double nearest 0.001 is a little more than 0.001.
    judged = check("max_absolute_error", 0.001, {"max": 0.01})

    assert words.tightest_words(judged) == "0.001"


def test_the_emulator_is_never_called_a_measurement() -> None:
    target = {
        "is_real_device": False,
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
    }

    told = words.target_words(target)

    assert "emulated" in told
    assert "measured" not in told
    assert "measured on a device" in words.target_words({**target, "is_real_device": True})
