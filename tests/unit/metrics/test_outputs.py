from __future__ import annotations

import numpy as np
import pytest

from ascendflow.metrics.outputs import OutputSeries


def test_the_range_is_taken_over_all_samples() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("narrow", np.array([0.0, 1.0]), np.array([0.0, 1.1]))
    series.add("wide", np.array([0.0, 10.0]), np.array([0.0, 10.0]))
    found = series.result()

    assert found["golden_range"] == 10.0
    assert found["metrics"]["range_relative_error"]["worst"] == pytest.approx(0.01)
    assert found["metrics"]["range_relative_error"]["worst_sample"] == "narrow"


def test_a_small_output_has_a_relative_error_floored_by_the_range_of_all_samples() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("a", np.array([0.0, 1.0]), np.array([1e-6, 1.0]))
    series.add("b", np.array([0.0, 100.0]), np.array([0.0, 100.0]))
    floored = series.result()["floored_max_relative_error"]

    assert floored is not None
    assert floored["worst"] == pytest.approx(1e-6 / (1e-6 * 100))
    assert floored["worst_sample"] == "a"


def test_an_output_of_eight_elements_has_no_floored_error() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("a", np.ones(8), np.ones(8))

    assert series.result()["floored_max_relative_error"] is None
    assert series.result()["smallest_size"] == 8


@pytest.mark.parametrize(
    ("golden", "target", "problem"),
    [
        pytest.param(np.ones(4), None, "the target has no such output", id="missing"),
        pytest.param(None, np.ones(4), "the golden has no such output", id="unknown"),
        pytest.param(
            np.ones(4),
            np.ones((2, 2)),
            "shapes differ: golden [4], target [2, 2]",
            id="shape",
        ),
        pytest.param(
            np.ones(4, np.float32),
            np.ones(4, np.float16),
            "golden is float32, target float16",
            id="dtype",
        ),
        pytest.param(
            np.ones(2),
            np.array([1.0, np.inf]),
            "the target has 1 NaN or infinite elements that the golden has not",
            id="introduced",
        ),
        pytest.param(
            np.array([1.0, np.nan]),
            np.ones(2),
            "the golden has 1 NaN or infinite elements that the target has not",
            id="lost",
        ),
    ],
)
def test_what_cannot_pass_is_a_problem_of_its_sample(
    golden: np.ndarray | None, target: np.ndarray | None, problem: str
) -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("good", np.ones(4), np.ones(4))
    series.add("bad", golden, target)

    assert series.result()["problems"] == [{"sample": "bad", "problem": problem}]


def test_an_infinity_that_both_have_is_no_problem_and_is_counted() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("a", np.array([1.0, np.inf]), np.array([1.0, np.inf]))
    found = series.result()

    assert found["problems"] == []
    assert (found["golden_nonfinite"], found["target_nonfinite"]) == (1, 1)
    assert found["metrics"]["max_absolute_error"]["worst"] == 0.0
    assert found["metrics"]["cosine_similarity"]["worst"] == "NaN"


def test_statistics_are_means_over_the_samples() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("a", np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    series.add("b", np.array([4.0, 6.0]), np.array([4.0, 6.0]))
    statistics = series.result()["statistics"]

    assert statistics["golden_mean"] == 3.0
    assert statistics["target_mean"] == 3.5
    assert statistics["golden_standard_deviation"] == 1.0


def test_an_integer_output_is_discrete_and_has_a_mismatch_rate_only() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("a", np.array([1, 0]), np.array([0, 0]))
    found = series.result()

    assert found["kind"] == "discrete"
    assert found["metrics"] == {
        "mismatch_rate": {"worst": 0.5, "mean": 0.5, "worst_sample": "a"}
    }
