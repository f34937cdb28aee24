from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascendflow.errors import UsageError
from ascendflow.manifest import schema
from ascendflow.manifest.validate import validate

MANIFESTS = Path(__file__).parents[2] / "manifests"
NOTE = {
    "$schema": schema.DIALECT,
    "type": "object",
    "properties": {"schema_version": {"const": 1}, "value": {"type": "number"}},
    "required": ["schema_version", "value"],
    "additionalProperties": False,
}


@pytest.fixture
def schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-in documents, so that the test needs no stage's."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "rewrite_log.schema.json").write_text(json.dumps(NOTE))
    (folder / "verdict.schema.json").write_text(json.dumps(NOTE))
    other = NOTE | {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    (folder / "golden.schema.json").write_text(json.dumps(other))
    monkeypatch.setattr(schema, "folder", lambda: folder)
    kinds = ("rewrite_log", "verdict", "golden")
    monkeypatch.setattr(schema, "DOCUMENTS", tuple((kind, "") for kind in kinds))
    return folder


def test_valid_manifest_has_no_problems() -> None:
    assert validate(MANIFESTS / "valid-everything.yaml", "manifest") == []


def test_wrong_manifest_is_told_with_lines(tmp_path: Path) -> None:
    file = tmp_path / "manifest.yaml"
    file.write_text((MANIFESTS / "cann-unquoted.yaml").read_text())

    (problem,) = validate(file)

    assert problem.startswith(
        f"{file}:7: convert.cann is wrong: 8.1 is not of type 'string'"
    )


def test_yaml_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "manifest.yaml"
    file.write_text((MANIFESTS / "duplicate-key.yaml").read_text())

    assert validate(file) == [f"{file}:9: infer is given twice, first on line 8"]


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize("name", ["verdict.json", "rewrite.json"])
def test_kind_is_told_by_the_files_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text('{"schema_version": 1, "value": "NaN"}')

    (problem,) = validate(file)

    assert problem == f"{file}: value is wrong: 'NaN' is not of type 'number'"


@pytest.mark.usefixtures("schemas")
def test_kind_is_told_by_the_keys_where_only_one_fits(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"name": 5}')

    assert validate(file) == [f"{file}: name is wrong: 5 is not of type 'string'"]


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize(
    "text", ['{"schema_version": 1, "value": 1}', "[]", "5", '{"name": "a", "more": 1}']
)
def test_unclear_kind_is_an_error_that_lists_the_kinds(tmp_path: Path, text: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(text)

    with pytest.raises(UsageError, match="no document known") as caught:
        validate(file)

    assert "rewrite_log, verdict, golden" in (caught.value.hint or "")


@pytest.mark.usefixtures("schemas")
def test_unknown_kind_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text("{}")

    with pytest.raises(UsageError, match=r"there is no document '\.\./verdict'"):
        validate(file, "../verdict")


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b'{"value": NaN}', "NaN is no JSON", id="bare-nan"),
        pytest.param(b'{"value": 1, "value": 2}', "'value' is given twice", id="twice"),
        pytest.param(b"{", "is not valid JSON", id="cut-off"),
        pytest.param(b"\xff", "is not valid JSON", id="not-utf-8"),
        pytest.param(b"[" * 100_000, "is not valid JSON", id="deep"),
    ],
)
def test_json_that_is_none_is_a_problem(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "verdict.json"
    file.write_bytes(content)

    (problem,) = validate(file)

    assert said in problem


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        validate(tmp_path / "verdict.json")
