from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow import __version__, cli
from ascendflow.tasks.command_line import CommandLine
from ascendflow.tasks.commands import COMMANDS, DATABASES

if TYPE_CHECKING:
    from pathlib import Path

DODO = """\
DOIT_CONFIG = {"backend": "json"}  # the default leaves sqlite open, from Python 3.13 on

def task_hello():
    return {"actions": [(print, ["hello from dodo"])], "verbosity": 2}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dodo.py").write_text(DODO)
    below = tmp_path / "pipelines" / "pan"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["ascendflow", *arguments])
    return cli.main()


def test_dodo_is_found_in_a_parent_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "list") == 0
    assert "hello" in capsys.readouterr().out
    assert cli._folder_with_dodo(repository / "pipelines" / "pan") == repository


def test_without_a_dodo_is_told_and_exits_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert call(monkeypatch, "list") == 3
    assert capsys.readouterr().err == (
        "ERROR: no dodo.py here or above: run `ascendflow init MODEL`\n"
    )


@pytest.mark.parametrize("arguments", [["--version"], ["help"], ["schema"]])
def test_what_needs_no_dodo_runs_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert call(monkeypatch, *arguments) == 0


def test_version_is_ascendflows_and_doits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from doit.version import VERSION

    monkeypatch.chdir(tmp_path)
    call(monkeypatch, "--version")
    doit = ".".join(map(str, VERSION))

    assert capsys.readouterr().out == f"ascendflow {__version__} (doit {doit})\n"


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("argument", ["help", "--help"])
def test_help_begins_with_a_line_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argument: str
) -> None:
    call(monkeypatch, argument)
    out = capsys.readouterr().out

    assert out.startswith("ascendflow -- ")
    assert out.index("ascendflow --") < out.index("doit -- automation tool")


@pytest.mark.usefixtures("repository")
def test_a_misspelt_task_or_command_is_told_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [call(monkeypatch, name) for name in ("helo", "explian", "qqqqq")]
    hello, explain, none = capsys.readouterr().err.split("ERROR: ")[1:]

    assert codes == [3, 3, 3]
    assert hello == "there is no task or command 'helo'\n  hint: did you mean 'hello'?\n"
    assert "did you mean 'explain'?" in explain
    assert "did you mean" not in none


@pytest.mark.usefixtures("repository")
def test_empty_arguments_are_as_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain doit shows a traceback."""
    assert call(monkeypatch, "", "list", "") == 0
    assert "hello" in capsys.readouterr().out


@pytest.mark.usefixtures("repository")
def test_every_command_is_there_without_a_pyproject(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "help") == 0
    out = capsys.readouterr().out

    for name, location in COMMANDS:
        assert (f"ascendflow {name} " in out) == ("withheld" not in location)


def test_database_is_there_without_a_pyproject() -> None:
    assert CommandLine().config["BACKEND"] == dict(DATABASES)
