from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascendflow.manifest import schema
from ascendflow.tasks.commands.schema import Schema

MANIFESTS = Path(__file__).parents[3] / "manifests"


def test_schema_alone_lists_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert Schema().parse_execute([]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [kind for kind, _ in schema.DOCUMENTS]


def test_schema_of_a_kind_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert Schema().parse_execute(["manifest"]) == 0

    assert json.loads(capsys.readouterr().out)["title"] == "Manifest"


def test_validate_exits_with_0_or_1(capsys: pytest.CaptureFixture[str]) -> None:
    good = str(MANIFESTS / "valid-smallest.yaml")
    bad = str(MANIFESTS / "misspelt-key.yaml")

    assert Schema().parse_execute(["validate", good, "--kind", "manifest"]) == 0
    assert capsys.readouterr().out == "valid\n"
    assert Schema().parse_execute(["--kind", "manifest", "validate", good, bad]) == 1
    assert f"{bad}:7: convert is wrong" in capsys.readouterr().out


def test_drift_exits_with_1_and_write_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"manifest.schema.json": "{}\n"}
    monkeypatch.setattr(schema, "schemas", lambda _: made)

    assert Schema().parse_execute(["drift", str(tmp_path)]) == 1
    assert "manifest.schema.json differs" in capsys.readouterr().out
    assert Schema().parse_execute(["write", str(tmp_path)]) == 0
    assert Schema().parse_execute(["drift", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    "arguments", [["verdikt"], ["validate"], ["write"], ["a", "b", "c"]]
)
def test_schema_command_that_cannot_be_exits_with_3(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert Schema().parse_execute(arguments) == 3

    assert "kinds are manifest, record" in capsys.readouterr().err
