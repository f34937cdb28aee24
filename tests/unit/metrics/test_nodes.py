from __future__ import annotations

import numpy as np
import pytest

from ascendflow.metrics.nodes import NodeTable, Origin

ORIGINS = [
    Origin("a", "conv", "Conv", ("x",)),
    Origin("b", "relu", "Relu", ("a",)),
    Origin("c", "cast", "Cast", ("b",)),
    Origin("d", "shape", "Shape", ("x",)),
]
GOLDEN = np.array([1.0, 2.0])


def test_rows_come_in_the_order_of_the_model_and_the_targets_own_last() -> None:
    table = NodeTable()
    table.add_alone("inserted", in_golden=False)
    table.add("c", GOLDEN, GOLDEN)
    table.add_alone("b", in_golden=True)
    table.add("a", GOLDEN, GOLDEN)
    rows = table.result(ORIGINS, {"conv": "Conv2D"})

    assert [(row["tensor"], row["node"], row["status"]) for row in rows] == [
        ("a", "conv", "compared"),
        ("b", "relu", "golden_only"),
        ("c", "cast", "compared"),
        ("inserted", "", "target_only"),
    ]
    assert [row["target_op"] for row in rows] == ["Conv2D", None, None, None]
    assert rows[1]["inputs"] == ["a"]


def test_the_largest_golden_magnitude_is_that_of_all_samples() -> None:
    table = NodeTable()
    table.add("a", np.array([1.0, -7.0]), GOLDEN)
    table.add("a", np.array([3.0, np.inf]), GOLDEN)
    table.add("d", np.array([9]), np.array([9]))
    floats, integers = table.result(ORIGINS, {})

    assert floats["statistics"]["golden_largest"] == 7.0
    assert integers["statistics"] == {}


def test_several_samples_keep_the_worst_of_each_metric() -> None:
    table = NodeTable()
    table.add("a", GOLDEN, GOLDEN)
    table.add("a", GOLDEN, np.array([2.0, 1.0]))
    table.add("a", GOLDEN, np.array([11.0, 22.0]))
    (row,) = table.result(ORIGINS, {})

    assert row["metrics"]["max_absolute_error"] == 20.0  # of the third sample
    assert row["metrics"]["cosine_similarity"] == pytest.approx(0.8)  # of the second
    assert row["statistics"]["target_mean"] == 1.5  # of the second
    assert row["diverges"]


def test_a_pair_that_cannot_be_measured_says_why_and_diverges() -> None:
    table = NodeTable()
    table.add("a", GOLDEN, np.ones(3))
    (row,) = table.result(ORIGINS, {})

    assert row["status"] == "compared"
    assert row["problem"] == "shapes differ: golden (2,), target (3,)"
    assert row["metrics"] == {}
    assert row["diverges"]


def test_nonfinite_elements_are_counted() -> None:
    table = NodeTable()
    table.add("a", np.array([1.0, np.inf]), np.array([np.nan, np.inf]))
    (row,) = table.result(ORIGINS, {})

    assert (row["golden_nonfinite"], row["target_nonfinite"]) == (1, 2)
    assert row["introduced_nonfinite"] == 1
    assert row["metrics"]["cosine_similarity"] == "NaN"


def test_what_another_tool_measured_is_judged_as_our_own() -> None:
    good = {"cosine_similarity": 1.0, "relative_euclidean_distance": 0.0}
    nan = dict.fromkeys(good, float("nan"))
    table = NodeTable()
    table.add_measured("a", good, None)
    table.add_measured("a", good | {"cosine_similarity": 0.5}, None)
    table.add_measured("b", nan, None)
    table.add_measured("c", good, "it was not compared: another size")
    table.add_measured("d", {}, None)
    table.add_measured("d", {}, None)

    rows = {row["tensor"]: row for row in table.result(ORIGINS, {})}

    assert rows["a"]["metrics"]["cosine_similarity"] == 0.5
    assert [name for name, row in rows.items() if row["diverges"]] == ["a", "b", "c"]
    assert rows["b"]["metrics"]["cosine_similarity"] == "NaN"
    assert rows["c"]["problem"] == "it was not compared: another size"
    assert (rows["d"]["status"], rows["d"]["metrics"]) == ("compared", {})
