"""How a task fails in doit: the message a user reads, and the exit code it asks for."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from doit.exceptions import BaseFail, TaskError, TaskFailed

from ascendflow.errors import (
    OF_THE_SYSTEM,
    AccuracyGateError,
    AscendflowError,
    InternalError,
    plain,
)
from ascendflow.tasks.selection import MANIFEST

if TYPE_CHECKING:
    from ascendflow.build.project import Project
    from ascendflow.plan import Plan


class StageTaskError(TaskError):
    """A stage refused or failed; doit counts it as an error."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class GateFailure(TaskFailed):
    """Everything ran; the numbers are not good enough."""

    exit_code = AccuracyGateError.exit_code


def located(error: Exception, project: Project, plan: Plan) -> Exception:
    """Name, to the hint of an error, the line of the manifest that it is about."""
    if isinstance(error, AscendflowError) and error.keys:
        from ascendflow.manifest.source import parse

        file = f"{plan.folder}/{MANIFEST}"
        try:
            line = parse((project.repository / file).read_bytes()).line(error.keys)
        except OSError:  # removed meanwhile
            return error
        error.hint = "; ".join(filter(None, (error.hint, f"see {file}:{line}")))
    return error


def failure_of(error: Exception, task: str) -> BaseFail:
    """Turn any exception into doit's class for it. The one place where that is done.

    Only a bug of ours is shown with its traceback.
    """
    if isinstance(error, OSError) and error.errno in OF_THE_SYSTEM:
        error = plain(error)
        error.message = f"{task}: {error.message}"
    if isinstance(error, AccuracyGateError):
        return GateFailure(str(error))
    if isinstance(error, AscendflowError):
        return StageTaskError(str(error), error.exit_code)
    if isinstance(error, InternalError):  # of a child: its log has the traceback
        notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
        message = f"a bug in ascendflow: {error}{notes}"
        return StageTaskError(message, AscendflowError.exit_code)
    trace = "".join(traceback.format_exception(error))
    message = f"{task}: a bug in ascendflow\n{trace}"
    return StageTaskError(message, AscendflowError.exit_code)
