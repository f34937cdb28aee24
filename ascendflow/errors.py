"""Every error a user can meet, in one tree.

* AscendflowError
  x UsageError              the command line asks for something that cannot be
  x ManifestError           the manifest is wrong; fix the YAML
  x PlanError               stages do not fit together (cycle, missing producer)
  x NotModelledError        the emulator has no model of what was asked for
  x StageError              a stage could not produce its artifacts
    + ToolNotFoundError     an external program is not installed
    + ToolFailedError       an external program or child process failed
  x AccuracyGateError       everything ran; the numbers are not good enough
  x CacheIntegrityError     a stored artifact no longer matches its digest

`InternalError` is deliberately outside the tree: it means a bug in ascendflow,
so a caller that handles `AscendflowError` still sees it.
"""

from __future__ import annotations

import errno
import os
from typing import ClassVar


class AscendflowError(Exception):
    """What a user did or met, said without a traceback.

    Attributes:
        message: where: what is wrong, with both values.
        hint: what to do next, or None.
        keys: the way to what the manifest says of it, ("inputs", 0, "shape"), where it is
            told by who knows no lines.
        log: where the log of what failed is, and how it ends, or None.
        exit_code: what the process should exit with (1 gate, 2 stage, 3 nothing ran).
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self, message: str, *, hint: str | None = None, keys: tuple[str | int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.keys = keys
        self.log: str | None = None

    def __str__(self) -> str:
        """Return the message, then hint and log on lines of their own."""
        hint = None if self.hint is None else f"hint: {self.hint}"
        return "\n  ".join(filter(None, (self.message, hint, self.log)))


class UsageError(AscendflowError):
    """The command line asks for something that cannot be; fix the command."""

    exit_code: ClassVar[int] = 3


class ManifestError(AscendflowError):
    """The manifest is wrong; fix the YAML. Holds all problems of the file at once."""

    exit_code: ClassVar[int] = 3


class PlanError(AscendflowError):
    """Stages do not fit together: a cycle, a missing producer, a missing input file."""

    exit_code: ClassVar[int] = 3


class NotModelledError(AscendflowError):
    """The emulator has no model of what was asked for, and does not approximate."""

    exit_code: ClassVar[int] = 3


class StageError(AscendflowError):
    """A stage could not produce its artifacts."""


class ToolNotFoundError(StageError):
    """An external program is not installed."""


class ToolFailedError(StageError):
    """An external program or a child process exited non-zero, crashed or hung."""


class AccuracyGateError(AscendflowError):
    """Everything ran; the numbers are not good enough."""

    exit_code: ClassVar[int] = 1


class CacheIntegrityError(AscendflowError):
    """A stored artifact no longer matches its digest."""


class InternalError(Exception):
    """A bug in ascendflow; please report it."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
_TOO_MANY = (errno.EMFILE, errno.ENFILE)

OF_THE_SYSTEM = frozenset(
    {
        *(*_FULL, *_FORBIDDEN, *_TOO_MANY),
        *(errno.ENOMEM, errno.EAGAIN, errno.EIO, errno.ESTALE),
        *(errno.ELOOP, errno.ENAMETOOLONG, errno.EFBIG),
    }
)
"""Errors that the system gives, whatever the code that meets them."""


def plain(error: OSError, path: str | None = None) -> AscendflowError:
    """Say what the system refused: where, why, and what to do about it.

    Args:
        error: what it refused.
        path: what was worked on, where the error does not know.
    """
    hint = None
    if error.errno in _FULL:
        hint = "free some space there, or run `doit gc`"
    elif error.errno in _FORBIDDEN:
        hint = "make that folder writable for this user, or move the checkout"
    elif error.errno in _TOO_MANY:
        hint = "raise the limit (`ulimit -n`), or use a smaller -n"
    where = error.filename or path
    what = f"cannot use {os.fsdecode(where)}: " if where else ""
    return StageError(f"{what}{error.strerror or error}", hint=hint)
