from __future__ import annotations

from ascendflow.stages.problem_list import ProblemList


def of(*samples: list[str]) -> ProblemList:
    made = ProblemList()
    for number, problems in enumerate(samples):
        made.add(f"'s{number}'", problems)
    return made


def test_samples_without_a_problem_are_none() -> None:
    assert not of([], [])


def test_each_kind_is_one_line_in_the_order_met() -> None:
    found = of([], ["b"], ["a", "b"], ["b"], ["b"], ["b"])

    assert found
    assert not found.full
    assert found.message() == (
        "2 problems:\n  - 5 of 6 samples ('s1', 's2', 's3', ...): b\n  - sample 's2': a"
    )


def test_problem_of_all_is_said_of_all() -> None:
    assert of(["a"], ["a"]).message() == "1 problem:\n  - all 2 samples: a"


def test_lone_sample_is_called_by_its_name() -> None:
    assert of(["a"]).message() == "1 problem:\n  - sample 's0': a"


def test_twenty_wrong_samples_are_enough() -> None:
    found = of([], *[["a"]] * 19)
    assert not found.full
    found.add("'last'", ["a"])

    assert found.full
    assert "20 of the first 21 samples ('s1', 's2', 's3', ...): a" in found.message()
