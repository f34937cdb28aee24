"""The variables of the command line: `model=`, `soc=`, `precision=`; no others."""

from __future__ import annotations

from typing import NamedTuple

from doit import doit_cmd
from doit.exceptions import InvalidDodoFile

KNOWN = ("model", "soc", "precision")


class Variables(NamedTuple):
    """What was asked for; None where nothing was said."""

    model: str | None = None
    soc: str | None = None
    precision: str | None = None


def read_variables() -> Variables:
    """Read the variables that doit took from the command line.

    Raises:
        InvalidDodoFile: a name is unknown, or a value is empty; doit then exits with 3.
    """
    # doit has no public list of all variables, and ignores those nobody asks for.
    given: dict[str, str] = dict(doit_cmd._CMDLINE_VARS or {})  # noqa: SLF001
    problems = [_unknown(name) for name in given if name not in KNOWN]
    problems += [f"{name}= is empty" for name in KNOWN if given.get(name) == ""]
    if problems:
        raise InvalidDodoFile("\n".join(problems))
    return Variables(**given)


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, KNOWN, n=1)
    meant = f"did you mean {near[0]}=?" if near else f"known are {', '.join(KNOWN)}"
    return f"{name}= is not a variable of this project\n  hint: {meant}"
