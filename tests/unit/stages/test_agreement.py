from __future__ import annotations

import numpy as np
import pytest

from ascendflow.errors import StageError
from ascendflow.stages.agreement import (
    Agreement,
    compare_outputs,
    refuse_beyond,
    why_not_finite,
)


def agreement(*pairs: tuple[np.ndarray, np.ndarray]) -> Agreement:
    made = Agreement()
    for golden, other in pairs:
        made.add(golden, other)
    return made


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("made", "error", "width"),
    [
        pytest.param(
            agreement((floats(0, 4), floats(0, 5)), (floats(-4, 0), floats(-4, 0))),
            1,
            8,
            id="range-over-all-samples",
        ),
        pytest.param(agreement((floats(-3), floats(-2))), 1, 3, id="one-value"),
        pytest.param(agreement((floats(0), floats(0.5))), 0.5, 1, id="all-zero"),
        pytest.param(agreement((floats(), floats())), 0, 1, id="empty"),
    ],
)
def test_error_is_taken_over_the_goldens_range(
    made: Agreement, error: float, width: float
) -> None:
    assert made.max_absolute_error == error
    assert made.range == width
    assert made.relative == error / width


def test_range_that_overflows_does_not_hide_an_error() -> None:
    huge = np.array([-1.5e308, 1.5e308])
    made = agreement((huge, np.array([-1.5e308, 0])))

    assert made.relative == 1


def test_integers_are_judged_by_how_many_differ() -> None:
    made = agreement((np.array([1, 2, 3, 4]), np.array([1, 2, 3, 9])))

    assert made.judged == 0.25
    assert made.document()["mismatch_rate"] == 0.25


def test_64_bit_integers_are_compared_exactly() -> None:
    made = agreement((np.array([2**62]), np.array([2**62 + 1])))

    assert made.judged == 1


def test_limit_passes_at_its_value_and_fails_beyond() -> None:
    made = {"y": agreement((floats(0, 4), floats(0, 5)))}
    refuse_beyond(made, 0.25, what="they differ", key="k")
    with pytest.raises(
        StageError, match=r"'y': max absolute error 1 .* 0.25, allowed 0.24"
    ):
        refuse_beyond(made, 0.24, what="they differ", key="k")


@pytest.mark.parametrize(
    ("cause", "hint"), [(None, "the limit is k"), ("a draw", "the limit is k; a draw")]
)
def test_hint_names_the_limit_and_what_explains_the_worst_output(
    cause: str | None, hint: str
) -> None:
    asked: list[float] = []

    def explain(worst: float) -> str | None:
        asked.append(worst)
        return cause

    near, far = ((floats(0, 4), floats(0, 4 + by)) for by in (1, 2))
    made = {"y": agreement(near), "z": agreement(far)}
    refuse_beyond(made, 0.5, what="they differ", key="k", explain=explain)
    assert asked == []
    with pytest.raises(StageError) as caught:
        refuse_beyond(made, 0.4, what="they differ", key="k", explain=explain)

    assert (caught.value.hint, asked) == (hint, [0.5])


def test_nan_limit_passes_nothing() -> None:
    with pytest.raises(StageError):
        refuse_beyond({"y": Agreement()}, float("nan"), what="they differ", key="k")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        pytest.param(floats(1, np.nan), "1 NaN and 0 infinite", id="nan"),
        pytest.param(floats(1, -np.inf), "0 NaN and 1 infinite", id="inf"),
        pytest.param(floats(1), r"has shape \[1\], not \[2\]", id="shape"),
        pytest.param(np.array([1.0, 2.0]), "is float64, not float32", id="dtype"),
    ],
)
def test_output_that_cannot_be_compared_is_refused(other: np.ndarray, said: str) -> None:
    with pytest.raises(StageError, match=said):
        compare_outputs({}, {"y": floats(1, 2)}, {"y": other}, where="the target")


def test_integers_are_always_finite() -> None:
    assert why_not_finite(np.array([1, 2])) is None
