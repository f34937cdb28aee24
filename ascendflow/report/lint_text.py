"""What lint found, for people: equal findings together, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.documents.lint import SEVERITIES
from ascendflow.report.findings import blamed, cure_words, level, totals_line
from ascendflow.report.words import counted, lossy_line
from ascendflow.terminal import printable
from ascendflow.vocabulary import LOSSY_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.documents.lint import Lint, LintFinding

FIRST = 4
"""Nodes of a group that are named; JSON and SARIF hold all."""


class Looked(NamedTuple):
    """What was looked at.

    Attributes:
        note: that, in words.
        again: options with which lint sees what a pipeline converts, "" where it did.
        is_open: whether lengths of inputs were left open, on which findings hang.
        is_made: whether it is what the rules of a pipeline left.
        shapes: options with the lengths of inputs that were given, "" where none were.
    """

    note: str
    again: str = ""
    is_open: bool = False
    is_made: bool = False
    shapes: str = ""


def lint_text(name: str, lint: Lint, looked: Looked) -> str:
    """Tell every kind of finding, the totals, and one next step.

    Args:
        name: the file's, as the user gave it.
        lint: what was found in it.
        looked: what was looked at.
    """
    lines = [line for group in _groups(lint) for line in _group_lines(group)]
    step = next_step(name, lint, looked)
    lines += [totals_line(name, lint), looked.note, f"next: {step}"]
    return "".join(f"{printable(line)}\n" for line in lines)


def next_step(name: str, lint: Lint, looked: Looked) -> str:
    """Say the one thing to do that brings most."""
    for found in (each for each in lint["findings"] if not _is_cured(each)):
        if found["node"] is None and found["consequence"] == "rejected":
            return f"first what is wrong with the whole model, see above: {found['reason']}"
    if looked.again and (looked.is_open or any(map(_may_go, lint["findings"]))):
        each = ", with a number for each ?" if "?" in looked.again else ""
        return f"add `{looked.again}`{each}: some findings go away by that, or come"
    return _for_findings(name, lint, looked)


def _for_findings(name: str, lint: Lint, looked: Looked) -> str:
    rules = list(dict.fromkeys(str(f["rule"]) for f in lint["findings"] if _is_cured(f)))
    safe = [rule for rule in rules if rule not in LOSSY_RULES]
    lossy = [rule for rule in rules if rule in LOSSY_RULES]
    left = [f for f in lint["findings"] if not _is_cured(f) and _is_wrong(f)]
    shapes = f" {looked.shapes}" if looked.shapes else ""
    start = f"`ascendflow init NAME --onnx {name}{shapes}`"
    if safe:
        also = f"; not {', '.join(lossy)}: lossy, so write by hand, see above" * bool(lossy)
        stays = f"; no rule cures the other {len(left)}, see above" if left else ""
        written = "" if looked.is_made else f" ({start} writes one)"
        said = f"in the manifest{written} applies {', '.join(safe)}"
        return f"`rewrite: {{rules: auto}}` {said}{also}{stays}"
    if lossy:
        return f"`{lossy_line(lossy)}`, if the gate is to judge what that costs, see above"
    if left:
        return f"change {counted(len(left), 'node')} that no rule cures, see above"
    return (
        "the pipeline that made it, whose gate compares values"
        if looked.is_made
        else f"{start} starts a pipeline, which compares values"
    )


def _may_go(found: LintFinding) -> bool:
    """Whether a pipeline may do away with it by fixing shapes or naming nodes."""
    return found["deviation"] == "name-repeated" or "not fixed" in found["reason"]


def _is_cured(found: LintFinding) -> bool:
    return found["rule"] is not None and found["skipped"] is None


def _is_wrong(found: LintFinding) -> bool:
    return found["consequence"] != "precision"


def _groups(lint: Lint) -> list[list[LintFinding]]:
    """Put together what one rule, or none, does about one consequence of a deviation.

    What is said of the whole model stands alone.
    """
    groups: dict[tuple[object, ...], list[LintFinding]] = {}
    ordered = sorted(lint["findings"], key=lambda each: (_gravity(each), _severity(each)))
    for index, found in enumerate(ordered):
        key = (level(found), found["consequence"], found["deviation"], found["rule"])
        alone = index if found["node"] is None else None
        group = (*key, found["advice"], _is_cured(found), alone)
        groups.setdefault(group, []).append(found)
    return list(groups.values())


def _gravity(found: LintFinding) -> int:
    return ("error", "warning", "note").index(level(found))


def _severity(found: LintFinding) -> int:
    return SEVERITIES.index(found["consequence"])


def _group_lines(group: Sequence[LintFinding]) -> Iterator[str]:
    first = group[0]
    head = f"{level(first)}: {first['consequence']}"
    if len(group) == 1:
        yield f"{head}: {blamed(first)}: {first['reason']} [{first['deviation']}]"
    else:
        yield from _many(group, head)
    yield f"  {_cure(group)}"
    sure = " or ".join(dict.fromkeys(found["confidence"] for found in group))
    yield f"  confidence {sure}: {first['source']}"


def _many(group: Sequence[LintFinding], head: str) -> Iterator[str]:
    """Name the first nodes; on one line where the reason is the same for all."""
    deviation, shown = group[0]["deviation"], group[:FIRST]
    number = f"{head}: {counted(len(group), 'node')}"
    if len({found["reason"] for found in group}) > 1:
        yield f"{number} [{deviation}]"
        for found in shown:
            yield f"  {blamed(found)}: {found['reason']}"
        yield from (f"  {line}" for line in _more(len(group) - len(shown)))
        return
    types = ", ".join(dict.fromkeys(str(found["op_type"]) for found in group))
    yield f"{number} ({types}): {group[0]['reason']} [{deviation}]"
    names = list(dict.fromkeys(repr(found["node"]) for found in group))
    yield f"  {', '.join([*names[:FIRST], *_more(len(names) - FIRST)])}"


def _more(rest: int) -> list[str]:
    return [f"... and {rest} more; --format json lists all"] if rest > 0 else []


def _cure(group: Sequence[LintFinding]) -> str:
    """Say what helps; a rule may skip each node for a reason of its own."""
    if len({cure_words(found) for found in group}) == 1:
        return cure_words(group[0])
    skips = f"rule {group[0]['rule']} is against it, but skips these nodes"
    return f"{skips}, each for its own reason; --format json has them"
