"""How a precision mode is spelled, and what must hold between `convert`'s keys about it.

Sources: ATC's documents of `--precision_mode_v2` (not beside `--precision_mode`),
`--modify_mixlist` (mixed precision only) and `--optypelist_for_implmode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow import atc_words
from ascendflow.manifest.paths import lookup
from ascendflow.manifest.problems import Problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MODES = tuple(dict.fromkeys((*atc_words.PRECISION_MODES, *atc_words.PRECISION_MODES_V2)))
"""All spellings of a mode; a command line takes each where a manifest has two keys."""

OF_V2 = {
    mode: f"that is a value of precision_mode_v2: write precision_mode_v2: {mode}"
    for mode in atc_words.PRECISION_MODES_V2
}
OF_OLD = {
    mode: f"that is a value of precision_mode: write precision_mode: {mode}"
    for mode in atc_words.PRECISION_MODES
}
"""A mode under the other of the two keys -> where it belongs."""

_MIXED = ("allow_mix_precision", "mixed_")


def canonical(mode: str) -> str:
    """Return the spelling that is kept of a precision mode."""
    return dict(atc_words.SAME_PRECISION_MODES).get(mode, mode)


def precision_keys(data: Any) -> Iterator[Problem]:
    """Yield what cannot stand together; `data` is the whole manifest, raw."""
    convert = lookup(data, ("convert",))
    if not isinstance(convert, dict):
        return
    given = {key: value for key, value in convert.items() if value is not None}
    if "precision_mode" in given and "precision_mode_v2" in given:
        text = "stands beside precision_mode, and ATC takes only one of them (E10056)"
        yield Problem(("convert", "precision_mode_v2"), text, "remove one")
    yield from refused_together(given)


def refused_together(convert: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield which settings ATC does not take together; `convert` has no nulls."""
    yield from _mixlist(convert)
    yield from _implementations(convert)


def _mixlist(convert: Mapping[str, Any]) -> Iterator[Problem]:
    lists = convert.get("modify_mixlist")
    if not isinstance(lists, dict | str):
        return
    mode = convert.get("precision_mode_v2") or convert.get(
        "precision_mode", atc_words.FORCE_FP16
    )
    if isinstance(mode, str) and not mode.startswith(_MIXED):
        text = f"is for mixed precision, and the mode is {shown(mode)} (E10001)"
        hint = "set precision_mode: allow_mix_precision"
        yield Problem(("convert", "modify_mixlist"), text, hint)
    first: dict[str, str] = {}
    for mix in atc_words.MIX_LISTS:
        names = lists.get(mix) if isinstance(lists, dict) else None
        for index, name in enumerate(names if isinstance(names, list) else []):
            if isinstance(name, str) and first.setdefault(name, mix) != mix:
                keys = ("convert", "modify_mixlist", mix, index)
                yield Problem(keys, f"is on the {first[name]} list too, got {shown(name)}")


def _implementations(convert: Mapping[str, Any]) -> Iterator[Problem]:
    keys = ("convert", "optypelist_for_implmode")
    mode = convert.get("op_select_implmode")
    if not convert.get("optypelist_for_implmode"):
        return
    if mode is None:
        yield Problem(
            keys, "needs op_select_implmode (E10001)", "say which one these operators use"
        )
    elif isinstance(mode, str) and mode.endswith("_for_all"):
        text = f"is for high_performance and high_precision, not {shown(mode)}"
        yield Problem(keys, text, "leave one of the two out")
