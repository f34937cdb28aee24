"""Documents of a run that are told at its end, read from `build/`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.tasks.session import SESSION

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.plan import Plan


def load(plan: Plan, stage: str, role: str) -> Any:
    """Read a document of ours.

    Raises:
        StageError: it is not there, or cannot be read.
    """
    path = artifact(plan, stage, role)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or document.get("schema_version") != 1:
            raise ValueError("no document of schema_version 1")  # noqa: TRY301
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StageError(
            f"{plan.run_name}: cannot read {relative(path)}: {reason}",
            hint="run the same again: stages whose artifacts are gone are restored",
        ) from error
    return document


def artifact(plan: Plan, stage: str, role: str) -> Path:
    """Where a document lies."""
    return SESSION.project.artifact(plan, stage, role)


def relative(path: Path) -> Path:
    """Name a path as a user would, from the repository's folder."""
    return path.relative_to(SESSION.project.repository)
