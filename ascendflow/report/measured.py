"""Causes that the numbers themselves show: float16's range, and choices that were near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.documents.numbers import decode
from ascendflow.report.words import counted, shown
from ascendflow.terminal import printable
from ascendflow.vocabulary import HALF_MAX, HALF_NORMAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXPLAINED = (0.5, 2.0)
"""The share of a squared error that rounding explains. Far more than there is, and the
target does not round so; less than half, and most comes from elsewhere."""


def measured_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the divergent node's own numbers say, and those of choices that differ."""
    if (node := report["divergent_node"]) is not None:
        yield from _overflow(node)
        yield from _underflow(node)
    yield from flip_lines(report)


def _overflow(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield that values do not fit what the target stores, where that is so."""
    if (found := node["overflow"]) is None:
        return
    whose = "its values"
    if found["node"] != node["name"]:
        whose = printable(
            f"the values of {found['node']} ({found['op_type']}), which it reads,"
        )
    yield (
        f"overflow: in ONNX {whose} reach {shown(found['largest'])}; the target keeps them "
        f"in float16, which ends at {HALF_MAX:g}"
    )


def _underflow(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield that a node's values are too small for float16, where that makes its error."""
    found = node["underflow"]
    if found is None or not EXPLAINED[0] <= decode(found["explained"]) <= EXPLAINED[1]:
        return
    became = f", and {found['zeroed']} of them are 0 on the target" * bool(found["zeroed"])
    yield (
        f"underflow: in ONNX {found['tiny']} of its {counted(found['elements'], 'value')} "
        f"are below {HALF_NORMAL:.2g} and not 0{became}; to round them to float16, whose "
        f"smallest number is {2.0**-24:.2g}, makes such an error"
    )


def flip_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield why integers of an output differ, for each that failed a check for it."""
    failed = dict.fromkeys(
        check["subject"]
        for check in report["checks"]
        if check["metric"] == "mismatch_rate" and not check["passed"]
    )
    for output in failed:
        found = [each for each in report["flips"] if each["output"] == output]
        told = [printable(_flip_words(each)) for each in found if _is_news(each)]
        yield from told or [
            printable(f"why {output!r} differs is not known: {_no_choice(found)}")
        ]


def _is_news(flips: Mapping[str, Any]) -> bool:
    return flips["places"] is None or flips["places"]["differing"] > 0


def _no_choice(found: list[Any]) -> str:
    if not found:
        return "no ArgMax, ArgMin or TopK was compared on the way to it"
    nodes = ", ".join(f"{each['node']} ({each['op_type']})" for each in found)
    return f"{nodes} chose the same in sample {found[0]['sample']!r}"


def _flip_words(flips: Mapping[str, Any]) -> str:
    where = f"{flips['node']} ({flips['op_type']})"
    sample = f"sample {flips['sample']!r}"
    if (places := flips["places"]) is None:
        return f"why {flips['output']!r} differs is not known: {where}: {flips['problem']}"
    differing, near, tied = (places[key] for key in ("differing", "near", "tied"))
    told = []
    if tied:
        told.append(f"{tied} where ONNX has two equal values")
    if near:
        told.append(
            f"{near} at near ties: the two values are at most "
            f"{shown(places['largest_gap'], 3)} apart in ONNX, and {flips['values']} is "
            f"off by up to {shown(places['largest_error'], 3)} there on the target"
        )
    if rest := differing - near - tied:
        told.append(f"{rest} that no error of {flips['values']} explains")
    head = f"{differing} of {places['places']} indices of {where} differ, {sample}"
    return f"{flips['output']!r}: {head}: {'; '.join(told)}"
