from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache.digest import digest_bytes, digest_json
from ascendflow.cache.fingerprint import base_of, fingerprint, key_of
from ascendflow.cache.record import load_record, make_record, save_record
from ascendflow.cache.staleness import StaleReason
from ascendflow.cache.tree import output_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.documents.record import Record

A = digest_bytes(b"a")


@pytest.fixture
def record() -> Record:
    preimage = fingerprint(
        stage="export",
        code=A,
        config={"opset": 15},
        inputs={},
        tools={},
        environment={},
        floats=True,
        seed=0,
    )
    return make_record(
        preimage,
        {
            "files": {"pipeline:model.py": A},
            "folders": {},
            "missing": [],
            "distributions": {},
        },
        {
            "exported": output_of({"model.onnx": {"digest": A, "size": 1}}),
            "nodes.json": output_of({"": {"digest": A, "size": 1}}),
        },
        warnings=["w"],
        facts={"x": 1},
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path, record: Record) -> None:
    save_record(record, tmp_path / "a" / "record.json")

    assert load_record(tmp_path / "a" / "record.json") == record


def test_a_record_is_sorted_text_that_ends_with_a_newline(
    tmp_path: Path, record: Record
) -> None:
    save_record(record, tmp_path / "record.json")
    text = (tmp_path / "record.json").read_text()

    assert text == json.dumps(record, indent=1, sort_keys=True) + "\n"


def test_a_record_names_no_path_user_host_or_time(record: Record) -> None:
    assert record.keys() == {
        "schema_version",
        "stage",
        "key",
        "base",
        "fingerprint",
        "reads",
        "outputs",
        "warnings",
        "facts",
    }


def test_no_file_means_never_built(tmp_path: Path) -> None:
    assert load_record(tmp_path / "record.json") == StaleReason("never_built")


@pytest.mark.parametrize("version", [0, 2, None, True, "1"])
def test_a_record_of_another_schema_counts_as_none_and_says_both_versions(
    tmp_path: Path, record: Record, version: Any
) -> None:
    (tmp_path / "record.json").write_text(json.dumps(record | {"schema_version": version}))
    found = load_record(tmp_path / "record.json")

    assert found == StaleReason("schema", "its record", repr(version), "1")


def rekeyed(record: Any) -> Any:
    record["base"] = base_of(record["fingerprint"])
    record["key"] = key_of(record["base"], record["reads"])
    return record


def edited(*path: str, value: Any) -> Callable[[Any], None]:
    def edit(record: Any) -> None:
        for name in path[:-1]:
            record = record[name]
        record[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (edited("fingerprint", "seed", value=1), "base is not the digest"),
        (edited("reads", "files", value={}), "key is not the digest"),
        (edited("stage", value="golden"), "stage is not the one"),
        (edited("warnings", value=None), "warnings is missing or no list"),
        (edited("reads", value=[]), "reads is missing or no dict"),
        (edited("moon", value=1), "moon is unknown"),
        (
            edited("outputs", "exported", "digest", value=digest_bytes(b"b")),
            "its digest is not",
        ),
        (edited("outputs", "exported", value=7), "malformed"),
        (
            edited("outputs", "exported", "files", "model.onnx", "digest", value="x"),
            "malformed",
        ),
    ],
)
def test_a_record_that_does_not_hold_together_counts_as_none_and_says_why(
    tmp_path: Path, record: Record, edit: Callable[[Any], None], reason: str
) -> None:
    document = copy.deepcopy(record)
    edit(document)
    (tmp_path / "record.json").write_text(json.dumps(document))
    found = load_record(tmp_path / "record.json")

    assert isinstance(found, StaleReason)
    assert found.kind == "record_unreadable"
    assert reason in found.subject


@pytest.mark.parametrize(
    "name", ["../model", "/etc/passwd", "a/../../b", "a//b", ".", "a/./b"]
)
def test_a_path_that_leads_out_of_its_artifact_is_refused(
    tmp_path: Path, record: Any, name: str
) -> None:
    record["outputs"]["exported"] = output_of({name: {"digest": A, "size": 1}})
    (tmp_path / "record.json").write_text(json.dumps(rekeyed(record)))
    found = load_record(tmp_path / "record.json")

    assert isinstance(found, StaleReason)
    assert "is no plain relative path" in found.subject


@pytest.mark.parametrize("role", ["", "..", "../model", "/etc/passwd", "a/b"])
def test_a_role_that_leads_out_of_the_stages_folder_is_refused(
    tmp_path: Path, record: Any, role: str
) -> None:
    record["outputs"][role] = output_of({"": {"digest": A, "size": 1}})
    (tmp_path / "record.json").write_text(json.dumps(rekeyed(record)))
    found = load_record(tmp_path / "record.json")

    assert isinstance(found, StaleReason)
    assert "is no plain name" in found.subject


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b'{"a": NaN'])
def test_a_torn_record_counts_as_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "record.json").write_bytes(data)
    found = load_record(tmp_path / "record.json")

    assert isinstance(found, StaleReason)
    assert found.kind == "record_unreadable"


def test_a_nan_is_not_written(tmp_path: Path, record: Record) -> None:
    record["facts"]["x"] = float("nan")

    with pytest.raises(ValueError, match="not JSON compliant"):
        save_record(record, tmp_path / "record.json")
    assert not (tmp_path / "record.json").exists()


def test_the_published_type_accepts_what_is_written_and_no_less(record: Any) -> None:
    from pydantic import TypeAdapter, ValidationError

    from ascendflow.documents.record import Record
    from ascendflow.manifest.typed_dicts import rebuilt

    adapter: TypeAdapter[Any] = TypeAdapter(rebuilt(Record))
    adapter.validate_python(record)
    del record["key"]

    with pytest.raises(ValidationError, match="key"):
        adapter.validate_python(record)


def test_the_key_can_be_recomputed_from_the_record_alone(record: Any) -> None:
    assert record["key"] == digest_json(
        {"base": digest_json(record["fingerprint"]), "reads": record["reads"]}
    )
