"""An exception of a stage, as its parent reports it."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

from ascendflow.errors import OF_THE_SYSTEM, AscendflowError, InternalError, plain

if TYPE_CHECKING:
    from collections.abc import Callable

TREE = AscendflowError.__module__
MORE_MEMORY = "are the shapes right? Otherwise use smaller ones, or a larger machine"


def describe(
    error: BaseException, user_name: Callable[[str], str | None]
) -> dict[str, object]:
    """Return the document of a failed stage; what is not an AscendflowError is also logged.

    Args:
        error: what the stage raised.
        user_name: the name to show for a source file, or None if it is not the user's.

    Returns:
        `{"ok": False, "error": {"kind", "message", "hint"}}`, and "keys" where it has
        some. An exception with a user's
        file on its stack is a StageError; any other is an InternalError.
    """
    if isinstance(error, AscendflowError):
        # Of a module's own kinds the parent knows the one in the tree that they are of.
        kinds = (each for each in type(error).__mro__ if each.__module__ == TREE)
        return _failed(next(kinds).__name__, error.message, error.hint, error.keys)
    traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, InternalError):
        return _failed("InternalError", str(error), None)
    lines = traceback.format_exception_only(error)
    # A syntax error's message comes after the line it is about.
    text = lines[-1 if isinstance(error, SyntaxError) else 0].splitlines()[0]
    place = _place_in_user_code(error, user_name)
    if place is None and isinstance(error, MemoryError):
        what = f": {error}" if str(error) else ""
        return _failed("StageError", f"out of memory{what}", MORE_MEMORY)
    if place is None and isinstance(error, OSError) and error.errno in OF_THE_SYSTEM:
        refused = plain(error)
        return _failed("StageError", refused.message, refused.hint)
    if place is None:
        return _failed("InternalError", text, None)
    return _failed("StageError", f"{place}: {text}", None)


def _failed(
    kind: str, message: str, hint: str | None, keys: tuple[str | int, ...] = ()
) -> dict[str, object]:
    error = {"kind": kind, "message": message, "hint": hint}
    return {"ok": False, "error": {**error, "keys": keys} if keys else error}


def _place_in_user_code(
    error: BaseException, user_name: Callable[[str], str | None]
) -> str | None:
    """Return `file:line` of the innermost user's line on the stack, or None."""
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for path, line in reversed(places):
        if (name := user_name(path)) is not None:
            return f"{name}:{line}"
    return None
