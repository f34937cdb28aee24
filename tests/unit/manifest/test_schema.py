from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from ascendflow.manifest import schema, source
from ascendflow.manifest.load import load_manifest

MANIFESTS = Path(__file__).parents[2] / "manifests"
BEYOND_A_SCHEMA = {
    "bad-example-ranges",
    "cann-accidental-dynamic",
    "cann-msprobe-elsewhere",
    "cann-texts",
    "files-missing",
    "input-named-twice",
    "name-of-another-folder",
    "opset-too-new-for-cann",
}
"""Wrong manifests of which no schema can tell."""


class Inner(TypedDict):
    """Stands in for a document's part."""

    title: float | Literal["NaN"]


class Outer(TypedDict):
    """Stands in for a document."""

    schema_version: Literal[1]
    parts: dict[str, list[Inner]]
    last: Inner | None
    note: NotRequired[str]


STANDIN = (("outer", f"{__name__}:Outer"),)


PARSED = {
    file.stem: source.parse(file.read_bytes()) for file in sorted(MANIFESTS.glob("*.yaml"))
}
READABLE = {name: read.data for name, read in PARSED.items() if not read.problems}
VALID = [name for name in READABLE if name.startswith("valid-")]
WRONG = [name for name in READABLE if not name.startswith("valid-")]


@pytest.fixture(scope="module")
def manifest_schema() -> Draft202012Validator:
    made = json.loads(schema.schemas(schema.DOCUMENTS[:1])["manifest.schema.json"])
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


@pytest.mark.parametrize(
    ("kind", "location"), [pytest.param(*each, id=each[0]) for each in schema.DOCUMENTS]
)
def test_committed_schemas_are_what_the_types_say(kind: str, location: str) -> None:
    pytest.importorskip(location.partition(":")[0])

    made = schema.schemas(((kind, location),))

    assert made == {f"{kind}.schema.json": schema.read(kind)}


@pytest.mark.parametrize("name", VALID)
def test_schema_accepts_a_valid_manifest(
    manifest_schema: Draft202012Validator, name: str
) -> None:
    manifest_schema.validate(READABLE[name])


@pytest.mark.parametrize("name", WRONG)
def test_schema_rejects_a_wrong_manifest_where_it_can(
    manifest_schema: Draft202012Validator, name: str
) -> None:
    accepted = manifest_schema.is_valid(READABLE[name])

    assert accepted == (name in BEYOND_A_SCHEMA)


def test_every_key_of_the_manifest_is_described(
    manifest_schema: Draft202012Validator,
) -> None:
    whole = manifest_schema.schema
    for block in (whole, *whole["$defs"].values()):
        for key, value in block.get("properties", {}).items():
            refers = "$ref" in value or {"$ref"} & {
                k for c in value.get("anyOf", ()) for k in c
            }
            assert "description" in value or refers, f"{block['description']} {key}"


def test_schema_of_a_typed_dict_is_closed_and_keeps_optional_keys() -> None:
    made = Draft202012Validator(json.loads(schema.schemas(STANDIN)["outer.schema.json"]))
    good = {"schema_version": 1, "parts": {"a": [{"title": 0.5}]}, "last": {"title": "NaN"}}

    assert made.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert made.is_valid(good)
    assert made.is_valid(good | {"note": "x", "last": None})
    assert not made.is_valid(good | {"more": 1})
    assert not made.is_valid(good | {"last": {"title": "NaN", "more": 1}})
    assert not made.is_valid(good | {"last": {"title": "nan"}})
    assert not made.is_valid({key: good[key] for key in ("schema_version", "parts")})


def test_schemas_are_the_same_text_every_time() -> None:
    assert schema.schemas(STANDIN) == schema.schemas(STANDIN)


def test_drift_names_changed_missing_and_stray_schemas(tmp_path: Path) -> None:
    assert schema.drift(tmp_path, STANDIN) == ["outer.schema.json"]

    schema.write(tmp_path, STANDIN)
    assert schema.drift(tmp_path, STANDIN) == []

    (tmp_path / "outer.schema.json").write_text("{}")
    (tmp_path / "gone.schema.json").write_text("{}")
    (tmp_path / "README.md").write_text("not a schema")
    assert schema.drift(tmp_path, STANDIN) == ["gone.schema.json", "outer.schema.json"]

    changed = schema.write(tmp_path, STANDIN)
    assert [path.name for path in changed] == ["gone.schema.json", "outer.schema.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README.md",
        "outer.schema.json",
    ]


def test_document_whose_type_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        schema.drift(tmp_path, (("ghost", "ascendflow.documents.ghost:Ghost"),))


def test_first_line_of_each_committed_manifest_leads_to_the_schema() -> None:
    root = Path(schema.__file__).parents[2]
    for manifest in root.glob("pipelines/*/manifest.yaml"):
        first = manifest.read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=../../schemas/manifest.schema.json"
        assert (manifest.parent / "../../schemas/manifest.schema.json").is_file()
        load_manifest(manifest, repository=root, roots={})
