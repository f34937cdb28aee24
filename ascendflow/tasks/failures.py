"""How a task fails in doit: the message a user reads, and the exit code it asks for."""

from __future__ import annotations

from doit.exceptions import BaseFail, TaskError, TaskFailed

from ascendflow.errors import AccuracyGateError, AscendflowError


class StageTaskError(TaskError):
    """A stage refused or failed; doit counts it as an error."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class GateFailure(TaskFailed):
    """Everything ran; the numbers are not good enough."""

    exit_code = AccuracyGateError.exit_code


def failure_of(error: AscendflowError) -> BaseFail:
    """Turn an error of ours into doit's class for it. The one place where that is done."""
    if isinstance(error, AccuracyGateError):
        return GateFailure(str(error))
    return StageTaskError(str(error), error.exit_code)


def failure_of_bug(task: str) -> BaseFail:
    """Tell the exception that is being handled, a bug of ours, with its traceback."""
    import traceback

    message = f"{task}: a bug in ascendflow\n{traceback.format_exc()}"
    return StageTaskError(message, AscendflowError.exit_code)
