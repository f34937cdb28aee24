from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from ascendflow.report.collect import collect
from ascendflow.report.console import print_report
from ascendflow.report.words import FLOORED
from ascendflow.vocabulary import METRICS
from tests.reports import check, failed, passed

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def _printed(documents: dict[str, Any], *, width: int = 80, **console: Any) -> str:
    stream = io.StringIO()
    made = Console(file=stream, width=width, markup=False, highlight=False, **console)
    print_report(collect(documents), made)
    return stream.getvalue()


def _table(text: str) -> list[str]:
    """Return the lines of the tables; what stands outside of them may wrap."""
    lines = text.splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith("checks,")) :]


def test_a_failed_run_is_printed_with_every_check(snapshot: SnapshotAssertion) -> None:
    assert _printed(failed()) == snapshot


def test_a_wide_terminal_shows_the_worst_sample() -> None:
    assert "test-07" in _printed(failed(), width=120)
    assert "test-07" not in _printed(failed(), width=70)


@pytest.mark.parametrize("metric", [*(name for name, _ in METRICS), FLOORED])
def test_no_metric_is_cut_at_80_columns(metric: str) -> None:
    documents = failed()
    subject = "/decoder/final_logits:0"
    documents["verdict.json"]["checks"] = [
        check(metric, 0.123456789, {"max": 0.0123456}, subject=subject)
    ]

    text = _printed(documents)

    assert any(metric in line and subject in line for line in text.splitlines())
    if "checks," in text:  # else there are lines, which wrap as the terminal likes
        assert all(len(line) <= 80 for line in _table(text))


@pytest.mark.parametrize("width", [20, 40, 60, 72, 80, 200])
def test_no_name_is_ever_folded_or_cut(width: int) -> None:
    subject = "".join(f"/part{number}" for number in range(12))
    documents = failed()
    documents["verdict.json"]["checks"] = [
        check("relative_euclidean_distance", 0.5, {"max": 0.01}, subject=subject),
        check("relative_euclidean_distance", 0.5, {"max": 0.01}, subject="output_0"),
    ]

    text = _printed(documents, width=width)

    assert "relative_euclidean_distance" in text
    assert subject in text
    assert "output_0" in text


def test_the_tightest_threshold_is_the_first_to_go() -> None:
    wide, narrower, narrow = (_printed(failed(), width=width) for width in (120, 90, 50))

    assert "tightest that passes" in wide
    assert "tightest" not in narrower
    assert "worst sample" in narrower
    assert "FAIL  'mask': cosine_similarity is 0.9312, must be >= 0.999" in narrow


@pytest.mark.parametrize(("columns", "is_wide"), [(None, True), ("70", False)])
def test_a_pipe_is_no_terminal_of_80_columns(
    columns: str | None,
    is_wide: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    print_report(collect(failed()))

    assert ("tightest that passes" in capsys.readouterr().out) is is_wide


def test_nothing_is_coloured_in_a_pipe() -> None:
    assert "\x1b" not in _printed(failed())


def test_no_color_is_respected_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = _printed(failed(), force_terminal=True, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = _printed(failed(), force_terminal=True, color_system="standard")

    assert "\x1b[31m" in coloured
    assert "\x1b[31m" not in plain


def test_markup_in_names_is_printed_as_it_is() -> None:
    documents = failed()
    documents["verdict.json"]["checks"] = [
        check("mismatch_rate", 0.5, {"max": 0.0}, subject="[/up3/Resize][red]")
    ]

    assert "[/up3/Resize][red]" in _printed(documents, width=100)


def test_nan_is_shown_and_fails() -> None:
    documents = failed()
    documents["verdict.json"]["checks"] = [
        check("cosine_similarity", "NaN", {"min": 0.999}, problem="is NaN")
    ]

    (row,) = [line for line in _printed(documents).splitlines() if "NaN" in line]

    assert row.split()[0] == "FAIL"


def test_pairs_have_a_table_each() -> None:
    documents = failed()
    one, two, metric = documents["verdict.json"]["checks"]
    documents["verdict.json"]["checks"] = [one, {**two, "pair": "torch-target"}, metric]

    titles = [
        line.strip() for line in _printed(documents).splitlines() if "checks," in line
    ]

    assert titles == ["checks, onnx-target", "checks, torch-target"]


def test_the_emulator_is_never_called_a_measurement() -> None:
    text = _printed(failed()) + _printed(passed())

    assert "measured" not in text
    assert "emulated: 3 nodes modelled, 3 assumed to equal ONNX" in text
    assert "(Add 2, Sigmoid 1)" in text


def test_a_divergent_node_is_told_although_the_gate_passed() -> None:
    documents = passed()
    documents["verdict.json"]["first_divergent_node"] = failed()["verdict.json"][
        "first_divergent_node"
    ]

    assert "first divergent node: /up3/Resize" in _printed(documents)


def test_the_floored_error_is_explained_below_the_table() -> None:
    documents = failed()
    documents["verdict.json"]["checks"] = [check(FLOORED, 0.5, {"max": 0.01})]

    assert f"{FLOORED}: max relative error, its denominator" in _printed(documents)


def test_a_report_is_written_in_one_piece() -> None:
    """With `-n` another model's may be written at the same time."""
    pieces: list[str] = []

    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            pieces.append(text)
            return len(text)

    print_report(collect(failed()), Console(file=Stream()))

    assert len([piece for piece in pieces if piece]) == 1


def test_what_no_source_says_is_told_although_the_gate_passed() -> None:
    documents = passed()
    behaviours = {"names": ["one", "two"], "nodes": "two"}
    documents["verdict.json"]["emulation"]["behaviours"] = behaviours

    assert "unknown on CANN 8.1" in _printed(documents)
    assert "unknown" not in _printed(passed())
