"""record.json: read with suspicion, written whole.

Validated by hand, since every up-to-date run reads one per stage; the published schema
says the same. A record that does not hold together counts as no record, with a reason.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, cast

from ascendflow.cache.digest import hex_of
from ascendflow.cache.files import write_bytes
from ascendflow.cache.fingerprint import base_of, key_of
from ascendflow.cache.staleness import StaleReason
from ascendflow.cache.tree import output_of, why_unsafe
from ascendflow.documents.json_file import json_text

if TYPE_CHECKING:
    import os

    from ascendflow.documents.record import Fingerprint, Output, Reads, Record

SCHEMA_VERSION: Literal[1] = 1

_FIELDS: dict[str, type] = {
    "schema_version": int,
    "stage": str,
    "key": str,
    "base": str,
    "fingerprint": dict,
    "reads": dict,
    "outputs": dict,
    "warnings": list,
    "facts": dict,
}
_READS: dict[str, type] = {
    "files": dict,
    "folders": dict,
    "missing": list,
    "distributions": dict,
}


def make_record(
    preimage: Fingerprint,
    reads: Reads,
    outputs: dict[str, Output],
    *,
    warnings: list[str],
    facts: dict[str, Any],
) -> Record:
    """Put the record of a build together; base and key follow from the rest."""
    base = base_of(preimage)
    return {
        "schema_version": SCHEMA_VERSION,
        "stage": preimage["stage"],
        "key": key_of(base, reads),
        "base": base,
        "fingerprint": preimage,
        "reads": reads,
        "outputs": outputs,
        "warnings": warnings,
        "facts": facts,
    }


def load_record(path: str | os.PathLike[str]) -> Record | StaleReason:
    """Read a record, or say why there is none that can be used."""
    record = read_record(path)
    if not isinstance(record, StaleReason) and (reason := why_inconsistent(record)):
        return StaleReason("record_unreadable", reason)
    return record


def read_record(path: str | os.PathLike[str]) -> Record | StaleReason:
    """Read a record whose fields are there, but may contradict each other.

    For who recomputes its key and outputs anyway; else see `why_inconsistent`.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            document = json.loads(file.read())
    except FileNotFoundError:
        return StaleReason("never_built")
    except (OSError, ValueError) as error:
        return StaleReason("record_unreadable", str(error))
    if not isinstance(document, dict):
        return StaleReason("record_unreadable", "it is no JSON object")
    version = document.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        return StaleReason("schema", "its record", repr(version), str(SCHEMA_VERSION))
    if (reason := _why_wrong(document)) is not None:
        return StaleReason("record_unreadable", reason)
    return cast("Record", document)


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record so that a reader sees all of it or none.

    Raises:
        AscendflowError: the disk is full or the folder cannot be written to.
        ValueError: it holds a NaN; `documents.numbers.encode` spells one.
    """
    write_bytes(str(path), json_text(record).encode("ascii"))


def why_inconsistent(record: Record) -> str | None:
    """Return why the fields of a record contradict each other, or None."""
    try:
        return _why_inconsistent(record)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return f"a field is malformed: {error!r}"


def _why_wrong(document: dict[str, Any]) -> str | None:
    """Return which field of a document is not there or of the wrong type, or None."""
    return _why_fields_wrong("", document, _FIELDS) or _why_fields_wrong(
        "reads.", document["reads"], _READS
    )


def _why_fields_wrong(
    prefix: str, document: dict[str, Any], fields: dict[str, type]
) -> str | None:
    for name, wanted in fields.items():
        if not isinstance(document.get(name), wanted):
            return f"{prefix}{name} is missing or no {wanted.__name__}"
    if unknown := sorted(document.keys() - fields.keys()):
        return f"{prefix}{unknown[0]} is unknown"
    return None


def _why_inconsistent(document: Record) -> str | None:
    base, key = document["base"], document["key"]
    if base != base_of(document["fingerprint"]):
        return "base is not the digest of its fingerprint"
    if key != key_of(base, document["reads"]):
        return "key is not the digest of its base and reads"
    if document["stage"] != document["fingerprint"]["stage"]:
        return "stage is not the one of its fingerprint"
    outputs = document["outputs"].items()
    return next(filter(None, (_why_output_wrong(*output) for output in outputs)), None)


def _why_output_wrong(role: str, artifact: Output) -> str | None:
    if not role or "/" in role or why_unsafe(role) is not None:
        return f"output {role!r} is no plain name"
    for relative, entry in artifact["files"].items():
        hex_of(entry["digest"])
        if (reason := why_unsafe(relative)) is not None:
            return f"output {role}: {reason}"
    if artifact["digest"] != output_of(artifact["files"])["digest"]:
        return f"output {role}: its digest is not the one of its files"
    return None
