from __future__ import annotations

import pytest
from doit import doit_cmd
from doit.exceptions import InvalidDodoFile

from ascendflow.tasks.variables import Variables, read_variables


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doit_cmd, "_CMDLINE_VARS", None)


def given(*arguments: str) -> None:
    doit_cmd.DoitMain(config_filenames=()).process_args(list(arguments))


def test_variables_are_what_doit_took_from_the_command_line() -> None:
    """`_CMDLINE_VARS` is private to doit: this fails should it go."""
    given("model=pan", "list", "soc=Ascend310P3")

    assert read_variables() == Variables(model="pan", soc="Ascend310P3", precision=None)
    assert doit_cmd.get_var("model") == "pan"


def test_without_a_command_line_there_are_none() -> None:
    assert read_variables() == Variables()


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (
            "modle=x",
            "modle= is not a variable of this project\n  hint: did you mean model=?",
        ),
        ("x=y", "x= is not a variable of this project\n  hint: known are model, soc, prec"),
        ("soc=", "soc= is empty"),
    ],
)
def test_unknown_or_empty_variable_is_refused(argument: str, said: str) -> None:
    given(argument)

    with pytest.raises(InvalidDodoFile) as caught:
        read_variables()
    assert said in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    given("modle=x", "precision=", "y=1")

    with pytest.raises(InvalidDodoFile) as caught:
        read_variables()
    assert str(caught.value).count("\n") == 4
