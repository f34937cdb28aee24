"""Report -> tables on the console, as wide as the terminal and no wider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.report.lines import check_words, metric_words, node_lines
from ascendflow.report.words import (
    FLOORED,
    FLOORED_WORDS,
    counted,
    printable,
    threshold_words,
    tightest_words,
    value_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from ascendflow.documents.report import Report
    from ascendflow.documents.verdict import Check

COLUMNS = ("", "subject", "metric", "value", "must be", "tightest", "worst sample")
KEPT = (7, 6, 5)
"""How many columns to try. What is dropped first says least, and is in report.html."""

SUBJECT = 1
NUMBERS = ("value", "must be", "tightest")


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the notes, the end metric, what was emulated, and every check."""
    from rich.console import Console

    # Names from models may look like markup: "[/up3/Resize]" would be an error in rich.
    console = console or Console(markup=False, highlight=False, emoji=False)
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
        for line in node_lines(report):
            console.print(line, soft_wrap=True)


def _head(report: Report) -> Iterator[str]:
    for note in report["notes"]:
        yield printable(f"note: {note}")
    emulation = report["emulation"]
    if emulation is not None:
        assumed = emulation["assumed"]
        kinds = ", ".join(f"{op} {count}" for op, count in sorted(assumed.items()))
        yield printable(
            f"emulated: {counted(emulation['modelled_nodes'], 'node')} modelled, "
            f"{sum(assumed.values())} assumed to equal ONNX"
            + (f" ({kinds})" if kinds else "")
        )
    if report["metric"] is not None:
        yield metric_words(report)


def _print_checks(pair: str, checks: Sequence[Check], console: Console) -> None:
    """Print one table without its last columns if need be; without any table, lines."""
    unlimited = console.options.update(max_width=10_000)
    for kept in KEPT:
        table = _table(pair, checks, kept)
        # The subject may be folded, down to its heading; nothing else may.
        longest = max(len(printable(check["subject"])) for check in checks)
        foldable = max(longest - len(COLUMNS[SUBJECT]), 0)
        if table.__rich_measure__(console, unlimited).maximum - foldable <= console.width:
            console.print(table)
            return
    for check in checks:
        state = "ok" if check["passed"] else "FAIL"
        console.print(f"{state}  {check_words(check)}", soft_wrap=True)


def _table(pair: str, checks: Sequence[Check], kept: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(f"checks, {pair}"), title_justify="left", box=box.SIMPLE, pad_edge=False
    )
    for number, column in enumerate(COLUMNS[:kept]):
        table.add_column(
            column,
            no_wrap=number != SUBJECT,
            overflow="fold",
            justify="right" if column in NUMBERS else "left",
        )
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
        table.add_row(*map(Text, cells[:kept]), style=style)
    return table
