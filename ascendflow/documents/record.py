"""record.json: what a stage was built from, and what came out."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class FileEntry(TypedDict):
    """One file of an artifact."""

    digest: str
    size: int


class Output(TypedDict):
    """An artifact: a file (`files` has the one key ""), or a folder (by relative path).

    A path that ends with "/" stands for an empty folder.
    """

    digest: str
    files: dict[str, FileEntry]


class Reads(TypedDict):
    """What a child read beside its declared inputs.

    Names are `pipeline:<path>`, `repository:<path>` or `<root>:<path>`; a file's or
    folder's value is a digest (a folder's: of its names), or "missing" once it is gone.
    """

    files: dict[str, str]
    folders: dict[str, str]
    missing: list[str]
    distributions: dict[str, str]


class Platform(TypedDict):
    """Where a stage ran; `isa` only for a stage that computes floats."""

    os: str
    machine: str
    isa: NotRequired[str]


class Fingerprint(TypedDict):
    """All that can change a stage's outputs and is known before it runs."""

    schema: int
    stage: str
    code: str
    python: str
    config: dict[str, Any]
    inputs: dict[str, str]
    tools: dict[str, str]
    environment: dict[str, str]
    platform: Platform
    seed: int


class Record(TypedDict):
    """One successful build of a stage. Holds no time, host, user or path."""

    schema_version: Literal[1]
    stage: str
    key: str
    base: str
    fingerprint: Fingerprint
    reads: Reads
    outputs: dict[str, Output]
    warnings: list[str]
    facts: dict[str, Any]
