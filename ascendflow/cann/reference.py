"""`docs/deviations.md`: every deviation and rule, as a page to read."""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING

from ascendflow.cann import profile, soc
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.deviations.op_unregistered import OpUnregistered
from ascendflow.cann.equal import EQUAL
from ascendflow.cann.precision import MODELLED
from ascendflow.cann.settings import Settings
from ascendflow.cann.sources import SOURCES
from ascendflow.cann.whole_graph import NAMES
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cann.deviations.deviation import Deviation
    from ascendflow.graph.rule import Rule

VERSIONS = (("up to 6.0", "6.0"), ("6.1 to 8.4", "8.1"), ("from 8.5", "9.1"))
"""(spans of CANN versions that are known equally well, one of each)."""

HEAD = """\
# Where CANN differs from ONNX

What `ascendflow lint` finds, what the emulator computes, and which rule cures it. Each
finding has one consequence, which depends on the node and the target:

- `rejected`: ATC refuses the model.
- `silent`: it runs and gives other values.
- `precision`: its values are less precise.
- `unknown`: no source says what comes of it. It is not emulated, unless there are two
  things that may come of it and both can be computed (`docs/emulator.md`).

Confidence says how sure the line "CANN" of a section is for a CANN version, not how much a
model is hurt. `high`: read in source or tables of that version. `medium`: read for another
one, and nothing contradicts it. `low`: inferred, or told by users. An `unknown` finding has
one too: how sure it is that CANN treats the node as that line says; what comes of that is
what is not known. What was read is named at the end, under Sources.
"""


def page() -> str:
    """Describe all deviations, what is equal, and the rules, in Markdown."""
    lines = [HEAD, *_table(), "", *_equal()]
    for deviation in DEVIATIONS:
        lines += ["", *_section(deviation)]
    lines += ["", *_whole_graph(), "", *_rules(), "", *_sources()]
    return "\n".join(lines) + "\n"


def _table() -> Iterator[str]:
    yield "| deviation | operators | consequences | confidence | rule |"
    yield "|---|---|---|---|---|"
    for deviation in DEVIATIONS:
        yield _row(
            f"[`{deviation.name}`](#{deviation.name})",
            _operators(deviation),
            ", ".join(deviation.consequences),
            _confidence(deviation),
            _code(deviation.cure),
        )


def _section(deviation: Deviation) -> Iterator[str]:
    """Describe one; what it has from another class of the list is told there alone."""
    yield f"## {deviation.name}\n"
    base = next((d for d in DEVIATIONS if type(d) in type(deviation).__mro__[1:]), None)
    if base is not None:
        yield f"As [`{base.name}`](#{base.name}), and in particular:\n"
    told = set() if base is None else set(_rows(base))
    yield "| | |\n|---|---|"
    for row in _rows(deviation):
        if row not in told:
            yield _row(*row)


def _rows(deviation: Deviation) -> Iterator[tuple[str, str]]:
    yield "operators", _operators(deviation)
    yield "ONNX", deviation.onnx
    yield "CANN", deviation.cann
    yield "consequences", ", ".join(deviation.consequences)
    yield "confidence", _confidence(deviation)
    yield "cured by", _code(deviation.cure) or "no rule"
    if deviation.advice is not None:
        yield "advice", deviation.advice
    yield "read in", deviation.source


def _operators(deviation: Deviation) -> str:
    if isinstance(deviation, OpUnregistered):
        return ", ".join(sorted(deviation.op_types or ["any but those below"]))
    if isinstance(deviation, NodeDeviation):
        return ", ".join(sorted(deviation.op_types))
    return "the whole model"


def _confidence(deviation: Deviation) -> str:
    """Say it for each span of versions, unless it is the same in all."""
    told = [(span, _in_version(deviation, version)) for span, version in VERSIONS]
    if len({confidence for _, confidence in told}) == 1:
        return told[0][1]
    spans = [
        (confidence, [span for span, _ in group])
        for confidence, group in groupby(told, key=lambda each: each[1])
    ]
    return "; ".join(f"{_joined(names)}: {confidence}" for confidence, names in spans)


def _joined(spans: list[str]) -> str:
    """Merge neighbouring spans of versions."""
    if len(spans) == 1:
        return spans[0]
    return "up to 8.4" if spans[0] == VERSIONS[0][0] else "from 6.1"


def _in_version(deviation: Deviation, version: str) -> str:
    """Name the confidence there is on any SoC, in any mode, the surest first."""
    found = {
        deviation.confidence(
            Conditions(profile.profile(version), family, half, settings=Settings(mode))
        )
        for family, mode, half in product(soc.FAMILIES.values(), MODELLED, (False, True))
    }
    return " or ".join(each for each in ("high", "medium", "low") if each in found)


def _rules() -> Iterator[str]:
    yield "## Rules\n"
    yield "In the order in which they are applied. `exact`: the same bits in onnxruntime;"
    yield "`equivalent`: within 1e-5 of the output's range; `lossy`: only with"
    yield "`rewrite: {allow_lossy: true}`, and never by `rules: auto`.\n"
    yield "| rule | version | effect | operators | what it does | against |"
    yield "|---|---|---|---|---|---|"
    for rule in RULES:
        cured = [_code(each.name) for each in DEVIATIONS if each.cure == rule.name]
        yield _row(
            _code(rule.name),
            str(rule.version),
            rule.effect,
            ", ".join(sorted(rule.op_types)),
            _summary(rule),
            ", ".join(cured),
        )


def _summary(rule: Rule) -> str:
    return (type(rule).__doc__ or "").partition("\n")[0]


def _code(name: str | None) -> str:
    return "" if name is None else f"`{name}`"


def _row(*cells: str) -> str:
    told = (" ".join(cell.replace("|", r"\|").split()) for cell in cells)
    return f"| {' | '.join(told)} |"


def _equal() -> Iterator[str]:
    """Tell what was checked and is as ONNX says."""
    yield "## Checked and equal\n"
    yield "| operators | what is equal | read in |\n|---|---|---|"
    for operators, text, source in EQUAL:
        yield _row(operators, text, source)


def _whole_graph() -> Iterator[str]:
    """Tell what other names a report may give as a cause."""
    yield "## Of every node\n"
    yield "Conversions, verdicts and reports name these beside the deviations, as causes"
    yield "that no single node has. Lint does not find them.\n"
    yield "| name | what the target does | read in |\n|---|---|---|"
    for each in NAMES:
        yield _row(_code(each.name), each.meaning, each.source)


def _sources() -> Iterator[str]:
    yield "## Sources\n"
    yield "All of it was read; nothing was measured on a device.\n"
    yield "| source | what it is |\n|---|---|"
    for name, what in SOURCES.items():
        yield _row(name, what)
