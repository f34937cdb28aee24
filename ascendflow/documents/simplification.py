"""simplify.json: what the simplifier was told, what failed, and how far it moved values."""

from __future__ import annotations

from typing import Literal, TypedDict

from ascendflow.documents.golden import AgreementDocument


class FailedSetting(TypedDict):
    """A setting under which the simplifier raised on a valid model."""

    setting: str
    error: str


class SimplificationDocument(TypedDict):
    """simplify.json. `setting` is null and `outputs` empty where simplify is off."""

    schema_version: Literal[1]
    enabled: bool
    setting: str | None
    failed: list[FailedSetting]
    nodes_before: int
    nodes_after: int
    outputs: dict[str, AgreementDocument]
