"""Report -> tables on the console, as wide as the terminal and no wider."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

from ascendflow.report.lines import (
    check_words,
    golden_words,
    metric_words,
    node_lines,
    rewritten_words,
    unknown_lines,
)
from ascendflow.report.measured import measured_lines
from ascendflow.report.words import (
    FLOORED,
    FLOORED_WORDS,
    counted,
    threshold_words,
    tightest_words,
    value_words,
)
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from ascendflow.documents.report import Report
    from ascendflow.documents.verdict import Check

TIGHTEST, SAMPLE = "tightest that passes", "worst sample"
COLUMNS = ("", "subject", "metric", "value", "must be", TIGHTEST, SAMPLE)
DROPPED = ((), (TIGHTEST,), (TIGHTEST, SAMPLE))
"""Columns to leave out, by turns. What goes first says least, and is in report.html."""

NUMBERS = ("value", "must be", TIGHTEST)

PIPE_WIDTH = 120
"""Columns where there is no terminal, which rich takes for one of 80."""


def print_report(report: Report, console: Console | None = None) -> None:
    """Print what the numbers rest on, the end metric, and every check."""
    from rich.console import Console

    # Names from models may look like markup: "[/up3/Resize]" would be an error in rich.
    console = console or Console(
        markup=False, highlight=False, emoji=False, width=_width_in_a_pipe()
    )
    with console.capture() as captured:
        _print(report, console)
    # In one piece: with `-n`, another model may be told at the same time.
    console.file.write(captured.get())


def _print(report: Report, console: Console) -> None:
    for line in _head(report):
        console.print(line, soft_wrap=True)
    # A table for each pair, so that no column need repeat it.
    pairs: dict[str, list[Check]] = {}
    for check in report["checks"]:
        pairs.setdefault(check["pair"], []).append(check)
    for pair, checks in pairs.items():
        _print_checks(pair, checks, console)
    if any(check["metric"] == FLOORED for check in report["checks"]):
        console.print(f"{FLOORED}: {FLOORED_WORDS}", soft_wrap=True)
    if report["passed"]:  # where it failed, the failure says so
        for line in unknown_lines(report):
            console.print(line, soft_wrap=True)
        for line in (*node_lines(report), *measured_lines(report)):
            console.print(line, soft_wrap=True)


def _head(report: Report) -> Iterator[str]:
    emulation = report["emulation"]
    if emulation is not None:
        assumed = emulation["assumed"]
        kinds = ", ".join(f"{op} {count}" for op, count in sorted(assumed.items()))
        yield printable(
            f"emulated: {counted(emulation['modelled_nodes'], 'node')} modelled, "
            f"{sum(assumed.values())} assumed to equal ONNX"
            + (f" ({kinds})" if kinds else "")
        )
    yield f"golden: {golden_words(report)}"
    if rewritten := rewritten_words(report):
        yield rewritten
    if report["metric"] is not None:
        yield metric_words(report)


def _print_checks(pair: str, checks: Sequence[Check], console: Console) -> None:
    """Print a table of the columns that fit unfolded; where too few do, print lines."""
    unlimited = console.options.update(max_width=10_000)
    for dropped in DROPPED:
        table = _table(pair, checks, dropped)
        if table.__rich_measure__(console, unlimited).maximum <= console.width:
            console.print(table)
            return
    for check in checks:
        state = "ok" if check["passed"] else "FAIL"
        console.print(f"{state}  {check_words(check)}", soft_wrap=True)


def _width_in_a_pipe() -> int | None:
    """Return how wide a table may be where no terminal tells; None where one does."""
    is_told = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return None if is_told else PIPE_WIDTH


def _table(pair: str, checks: Sequence[Check], dropped: tuple[str, ...]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(f"checks, {pair}"), title_justify="left", box=box.SIMPLE, pad_edge=False
    )
    kept = [column for column in COLUMNS if column not in dropped]
    for column in kept:
        justify: Literal["left", "right"] = "right" if column in NUMBERS else "left"
        table.add_column(column, no_wrap=True, justify=justify)
    for check in checks:
        cells = (
            "ok" if check["passed"] else "FAIL",
            printable(check["subject"]),
            check["metric"],
            value_words(check),
            threshold_words(check["threshold"]),
            tightest_words(check),
            printable(check["sample"] or ""),
        )
        style = None if check["passed"] else "red"
        told = dict(zip(COLUMNS, cells, strict=True))
        table.add_row(*(Text(told[column]) for column in kept), style=style)
    return table
