"""What our commands' options are to doit, and those that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.atc_words import FORCE_FP16
from ascendflow.errors import UsageError
from ascendflow.manifest.problems import closest_or_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    Option = dict[str, Any]


def word(name: str, metavar: str, told: str, default: str = "") -> Option:
    """Return an option that takes a word."""
    return _option(name, told, metavar=metavar, default=default)


def words(name: str, metavar: str, told: str) -> Option:
    """Return an option that takes a word each time it is given."""
    return _option(name, told, metavar=metavar, default=[], type=list)


def switch(name: str, told: str) -> Option:
    """Return an option that is given or not."""
    return _option(name, told, default=False, type=bool)


def _option(name: str, told: str, **more: Any) -> Option:
    return {"name": name, "long": name, "help": told, **more}


SOC = word("soc", "SOC", "as `atc --soc_version` takes it, e.g. Ascend310P3")
PRECISION_MODE = word(
    "precision-mode",
    "MODE",
    "a value of `atc --precision_mode` or --precision_mode_v2 [default: force_fp16]",
    FORCE_FP16,
)
SHAPE = words(
    "shape",
    "NAME:SIZES",
    "shape to build for, of an input with dynamic dimensions; repeatable",
)


def refuse_unknown(command: str, option: str, given: str, known: Iterable[str]) -> None:
    """Refuse a word that the option does not know.

    Raises:
        UsageError: it is not in `known`; names the nearest.
    """
    if given not in known:
        hint = closest_or_all(given, known)
        raise UsageError(f"{command}: --{option}: {given!r} is not known", hint=hint)
