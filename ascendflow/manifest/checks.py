"""What single values in a manifest must be."""

from __future__ import annotations

import keyword
import math
import re
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from ascendflow import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

MODEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
CANN = r"[0-9]+\.[0-9]+(\.[A-Za-z0-9]+)*"
SOC = r"[A-Za-z0-9][A-Za-z0-9_-]*"
ATC_PATH = r"^/[A-Za-z0-9._/\u4e00-\u9fa5-]+$"
"""An absolute path that ATC takes: letters, digits, `-._/` and Chinese characters."""
CORES = r"^[0-9]+(\|[0-9]+)?$"
SSH_HOST = (
    r"([A-Za-z_][A-Za-z0-9_.-]{0,63}@)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9])?"
)
"""Nothing in it that a shell, or ssh's options, could take for something else."""
DIMENSION_RANGE = r"[1-9][0-9]{0,17}~[1-9][0-9]{0,17}"
NOT_IN_INPUT_NAMES = ":;,="
"""Separators of `atc --input_shape "image:1,3,192,256;mask:..."`, and of options."""


def wrong(must: str, hint: str | None = None) -> PydanticCustomError:
    """Make the error "`must`, got <value>"; the loader adds place and value."""
    context: dict[str, Any] = {"must": must, "hint": hint}
    return PydanticCustomError("ascendflow", "{must}", context)


def number(value: Any) -> int | float:
    """A finite number, kept an int where it is written as one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong("must be a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        finite = False
    if not finite:
        raise wrong("must be a finite number")
    return value


def positive_number(value: Any) -> int | float:
    """A finite number above zero."""
    checked = number(value)
    if checked <= 0:
        raise wrong("must be above 0")
    return checked


def ratio(value: Any) -> int | float:
    """A finite number, zero or more."""
    checked = number(value)
    if checked < 0:
        raise wrong("must be 0 or more", "it is a ratio: 0.01 allows a loss of one percent")
    return checked


def not_empty(value: Sized) -> Sized:
    """Text or a list with something in it.

    Not pydantic's own minimum: it counts the items that hold, so that a list with one
    wrong item would be said to be empty as well.
    """
    if not value:
        raise wrong("must not be empty")
    return value


def each_once(value: Sequence[str]) -> Sequence[str]:
    """A list with something in it, and nothing twice."""
    not_empty(value)
    twice = [each for each in dict.fromkeys(value) if value.count(each) > 1]
    if twice:
        raise wrong(f"must name each once, and {' and '.join(twice)} is there again")
    return value


def identifier(value: str) -> str:
    """A name that Python code can define."""
    if not value.isidentifier() or keyword.iskeyword(value):
        raise wrong("must be a Python name")
    return value


def relative_path(value: str) -> str:
    """A path below the pipeline's folder, the repository or a root; resolved later."""
    if not value or any(ord(character) < 32 for character in value):
        raise wrong("must be a path")
    if value.startswith(("/", "~", "\\")):
        raise wrong("must be relative to the manifest's folder", vocabulary.A_ROOT)
    return value


def absolute_path(value: str) -> str:
    """Where something is installed on this machine, in the characters that ATC takes."""
    if not value.startswith("/"):
        raise wrong("must be an absolute path", "it is installed outside the repository")
    if not re.fullmatch(ATC_PATH, value):
        raise wrong(
            "must hold letters, digits, '-', '_', '.' and '/' only (E10001)",
            "ATC takes no other path; install it elsewhere, or make a link",
        )
    return value


def device_path(value: str, machine: str = "the machine of the device") -> str:
    """Where something lies on the machine of the device."""
    if not re.fullmatch(ATC_PATH, value):
        must = "must be an absolute path of letters, digits, '-', '_', '.' and '/'"
        raise wrong(must, f"as it is on {machine}")
    return value


def ssh_config(value: str) -> str:
    """A file of this machine that ssh is told to read."""
    return device_path(value, "this machine")


def cores(value: str) -> str:
    """How many cores: "c", or cube and vector cores as "c|v"."""
    if not re.fullmatch(CORES, value):
        raise wrong('must be "c" or "c|v"', "c and v are numbers of cores")
    return value


def python3(value: str) -> str:
    """An interpreter that whoever looks for `python3` in its folder finds."""
    absolute_path(value)
    if not value.endswith("/python3"):
        hint = "ATC runs the python3 that it finds; name or link it so"
        raise wrong("must be the path of a `python3`", hint)
    return value


def ssh_host(value: str) -> str:
    """A host as ssh is told it, with a user before it or not."""
    if not re.fullmatch(SSH_HOST, value, re.ASCII):
        hint = "e.g. root@192.168.1.7; port and key belong in ssh's own configuration"
        raise wrong("must be `user@host` or `host` of letters, digits, '-', '_', '.'", hint)
    return value


def size(value: Any) -> int:
    """One size of an input's shape."""
    hint = "one fixed size; for several sizes in one OM see docs/cann.md"
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong("must be an integer", hint)
    if value < 0:
        raise wrong("must be 0 or more", hint)
    return value


def dimension(value: Any) -> int | str:
    """One size of `input_shape`: a number, -1 where it is open, or a range as `1~4`."""
    hint = "a size, -1 where it is open, or a range: 1~4"
    if isinstance(value, str) and re.fullmatch(DIMENSION_RANGE, value):
        low, high = map(int, value.split("~"))
        if low <= high:
            return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong("must be a whole number or a range (E10002)", hint)
    if value < 1 and value != -1:
        raise wrong("must be 1 or more, or -1 (E10011)", hint)
    return value


def module(value: str) -> str:
    """A Python file of the repository."""
    relative_path(value)
    if not value.endswith(".py"):
        raise wrong("must name a Python file", f"did you mean '{value}.py'?")
    if ":" in value:
        raise wrong("must lie in the repository", "roots are for data, not for modules")
    return value


def input_name(value: str) -> str:
    """An input's name, as ATC can be told it.

    Source: atc's `--input_shape` separates names and shapes by these characters.
    """
    bad = [c for c in value if c in NOT_IN_INPUT_NAMES or ord(c) < 32 or ord(c) == 127]
    if bad or not value or value != value.strip():
        raise wrong(
            "must be free of ':' ';' ',' '=', control characters and outer spaces",
            "atc's --input_shape cannot express such a name; rename the input in the model",
        )
    return value


def model_name(value: str) -> str:
    """A folder's and a task's name."""
    if not re.fullmatch(MODEL, value, re.ASCII) or value.endswith("."):
        raise wrong("must be up to 64 letters, digits, '.', '_' or '-', as a folder's name")
    taken = "a stage" if value in vocabulary.STAGES else "a command"
    if value in (*vocabulary.STAGES, *vocabulary.COMMANDS):
        raise wrong(f"must not be the name of {taken}", f"e.g. '{value}-model'")
    return value


def soc_version(value: str) -> str:
    """A name that `atc --soc_version` could take; which are known is judged later."""
    if not re.fullmatch(SOC, value, re.ASCII):
        raise wrong("must be a name as `atc --soc_version` takes it", "e.g. Ascend310P3")
    return value


def cann_version(value: str) -> str:
    """A CANN version."""
    if not re.fullmatch(CANN, value, re.ASCII):
        raise wrong("must be a CANN version", 'e.g. "8.1" or "6.0.RC1"')
    return value
