"""What single values in a manifest must be."""

from __future__ import annotations

import keyword
import math
import re
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from ascendflow import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sized

MODEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
CANN = r"[0-9]+\.[0-9]+(\.[A-Za-z0-9]+)*"
SOC = r"[A-Za-z0-9][A-Za-z0-9_-]*"
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
        hint = "name its folder in [tool.ascendflow] roots of pyproject.toml"
        raise wrong(
            "must be relative to the manifest's folder", f"{hint}, then write root:path"
        )
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
