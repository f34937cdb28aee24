from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.worse import farther, worse

if TYPE_CHECKING:
    from ascendflow.documents.metrics import OutputComparison

BOTH = ("a", "b")
GOLDEN = [np.array([1, 2, 3, 4], np.float32), np.array([4, 3, 2, 1], np.float32)]


def compared(*targets: Any) -> OutputComparison:
    """One output of two samples against the golden."""
    series = OutputSeries("onnx-target", "y")
    for number, (golden, target) in enumerate(zip(GOLDEN, targets, strict=True)):
        series.add(f"s{number}", golden, target)
    return series.result()


def off(*errors: float) -> OutputComparison:
    """Each sample's first element is off by so much."""
    pairs = zip(GOLDEN, errors, strict=True)
    return compared(*(g + np.array([e, 0, 0, 0], np.float32) for g, e in pairs))


def test_each_number_is_of_the_behaviour_it_is_worse_by() -> None:
    """A scaled output has cosine 1 and large errors, a turned one the other way round."""
    scaled = compared(*(3 * golden for golden in GOLDEN))
    turned = compared(GOLDEN[0], np.array([4, 3, 2, -1], np.float32))

    found = worse(scaled, turned, BOTH)["metrics"]

    assert found["max_absolute_error"]["behaviour"] == "a"
    assert found["max_absolute_error"]["worst"] == 8
    assert found["cosine_similarity"] == {
        **turned["metrics"]["cosine_similarity"],
        "behaviour": "b",
    }


@pytest.mark.parametrize("swapped", [False, True])
def test_nan_is_worse_than_any_number(swapped: bool) -> None:
    zero = compared(*(np.zeros(4, np.float32) for _ in GOLDEN))  # its cosine is NaN
    pair = (zero, off(1, 1)) if swapped else (off(1, 1), zero)

    found = worse(*pair, BOTH)["metrics"]["cosine_similarity"]

    assert found["worst"] == "NaN"
    assert found["behaviour"] == BOTH[0 if swapped else 1]


def test_equal_numbers_are_of_the_first() -> None:
    found = worse(off(0.5, 0.25), off(0.5, 0.25), BOTH)

    assert {each["behaviour"] for each in found["metrics"].values()} == {"a"}


def test_problems_of_either_are_kept_and_say_under_which() -> None:
    found = worse(off(0, 0), compared(GOLDEN[0], None), BOTH)

    assert found["problems"] == [
        {"sample": "s1", "problem": "the target has no such output, if b"}
    ]


def test_what_only_one_has_is_of_that_one() -> None:
    lost = compared(None, None)

    found = worse(lost, off(1, 0), BOTH)

    assert found["metrics"]["max_absolute_error"]["behaviour"] == "b"
    assert found["floored_max_relative_error"] == {
        **(off(1, 0)["floored_max_relative_error"] or {}),
        "behaviour": "b",
    }


def test_the_farther_is_told_by_problems_then_by_distance() -> None:
    near, far = off(0.1, 0), off(1, 0)

    assert farther([near], [far]) == 1
    assert farther([far], [near]) == 0
    assert farther([near], [near]) == 0
    assert farther([far], [compared(GOLDEN[0], None)]) == 1
    flipped = compared(np.full(4, np.nan, np.float32), GOLDEN[1])
    assert farther([far], [flipped]) == 1
