from __future__ import annotations

import pytest

from ascendflow.backends.cann.error_codes import MEANINGS, UNKNOWN, meaning


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("E10001", "an option has a value that ATC does not take"),
        ("E10056", "both precision modes are set"),
        ("E10407", "an argument is wrong"),
        ("E16002", "an operator of this opset has no parser"),
        ("E19010", "an operator of this opset has no parser"),
        ("E19004", "a file cannot be read or written"),
        ("E19999", "an error inside the graph engine"),
        ("E40021", "a kernel cannot be compiled"),
        ("E40000", "kernels cannot be compiled in this environment"),
        ("E76002", "an operator's own check failed"),
        ("EZ3003", "no engine supports an operator"),
        ("EZ1234", "an operator is not supported as it is used"),
        ("W11001", "a warning of the graph engine"),
    ],
)
def test_code_means_what_its_table_says(code: str, said: str) -> None:
    assert meaning(code).meaning == said


def test_code_of_no_family_is_said_to_be_unknown() -> None:
    assert meaning("EQ0000") is UNKNOWN


def test_no_family_hides_what_stands_behind_it() -> None:
    for index, each in enumerate(MEANINGS):
        assert meaning(each.code.ljust(6, "?")) in MEANINGS[: index + 1]
        assert meaning(each.code) is each


def test_every_meaning_says_what_to_do_and_where_it_is_from() -> None:
    assert all(each.meaning and each.remedy and each.source for each in MEANINGS)
