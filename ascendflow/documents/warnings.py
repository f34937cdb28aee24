"""warnings.json: what the stages before one said beside their artifacts."""

from __future__ import annotations

from typing import Literal, TypedDict


class StageWarning(TypedDict):
    """One warning, and the stage whose record holds it."""

    stage: str
    text: str


class WarningsDocument(TypedDict):
    """An input that no stage makes: it is put together from the records, in plan order."""

    schema_version: Literal[1]
    warnings: list[StageWarning]
