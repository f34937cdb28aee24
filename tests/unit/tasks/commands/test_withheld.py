from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow import cli
from ascendflow.tasks.commands.withheld import WITHHELD, Withheld
from ascendflow.tasks.database import Database

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dodo.py").write_text('raise SystemExit("dodo.py was run")\n')
    monkeypatch.chdir(tmp_path)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["ascendflow", *arguments])
    return cli.main()


@pytest.mark.parametrize("command", WITHHELD)
@pytest.mark.parametrize("arguments", [[], ["gate:pan"], ["-h"]])
def test_what_would_bypass_a_gate_is_refused_with_what_to_do_instead(
    command: type[Withheld],
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, command.name, *arguments) == 3

    told = capsys.readouterr().err
    assert told.startswith(f"ERROR: `ascendflow {command.name}` is not for a project of")
    assert f"\n  hint: {command.instead}\n" in told
    assert "Traceback" not in told


def test_help_lists_none_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "help") == 0

    told = capsys.readouterr().out
    assert "ascendflow explain" in told
    assert [c.name for c in WITHHELD if f"ascendflow {c.name} " in told] == []


def test_what_was_once_ignored_is_not_skipped(tmp_path: Path) -> None:
    """By doit's own command, in a repository whose pyproject.toml does not name ours."""
    from doit.dependency import JSONCodec

    database = Database(str(tmp_path / "doit.json"), JSONCodec())
    database.set("gate:pan", "ignore:", "1")
    database.set("gate:pan", "checker:", "x")

    assert database.get("gate:pan", "ignore:") is None
    assert database.get("gate:pan", "checker:") == "x"
