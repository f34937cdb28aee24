"""What a child hands back: the file that its parent waits for."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ascendflow.documents.json_file import write_json
from ascendflow.errors import InternalError, StageError

if TYPE_CHECKING:
    from ascendflow.child.spec import Spec
    from ascendflow.reads.tracker import Reads
    from ascendflow.stages.stage import Findings

RESULT = "result.json"
UNWRITTEN = os.EX_IOERR
"""Exit status of a child that could not write it."""


def success(findings: Findings, reads: Reads) -> dict[str, Any]:
    """Return the document of a stage that made all its outputs."""
    return {
        "ok": True,
        "warnings": [*findings.warnings, *reads.warnings],
        "facts": findings.facts,
        "kept": {path: asdict(kept) for path, kept in findings.kept.items()},
        "reads": {
            "files": list(reads.files),
            "folders": list(reads.folders),
            "missing": list(reads.missing),
        },
        "states": dict(reads.states),
        "appeared": list(reads.appeared),
        "distributions": list(reads.distributions),
    }


def write_result(spec: Spec, document: dict[str, Any]) -> None:
    """Write `result.json` beside the spec, whole or not at all.

    Raises:
        ValueError: the document holds a non-finite number.
    """
    partial = spec.base / f"{RESULT}.partial"
    write_json(partial, document)
    os.replace(partial, spec.base / RESULT)


def check_outputs(spec: Spec) -> None:
    """Refuse a stage that did not make what it declared.

    Raises:
        StageError: a role has no file or folder; names all of them.
    """
    problems = []
    for role, path in sorted(spec.outputs.items()):
        is_file = bool(PurePath(role).suffix)
        if not (path.is_file() if is_file else path.is_dir()):
            problems.append(f"the {'file' if is_file else 'folder'} {role!r}")
    if problems:
        raise StageError(
            f"{spec.stage}: ended without making {', '.join(problems)}",
            hint="the log shows what it did; this is a bug of the stage",
        )


def check_modules(spec: Spec) -> None:
    """Refuse a run whose code digest does not cover the code that ran.

    A package's `__init__` holds no logic and is excepted.

    Raises:
        InternalError: ascendflow modules were imported that `spec.modules` lacks.
    """
    ours = {
        name
        for name, module in sys.modules.items()
        if name.startswith("ascendflow.") and not hasattr(module, "__path__")
    }
    if uncovered := sorted(ours - spec.modules):
        names = ", ".join(uncovered)
        raise InternalError(
            f"{spec.stage}: imported {names}, not in the {len(spec.modules)} modules that "
            "its code digest covers"
        )
