from __future__ import annotations

import pytest

from ascendflow import terminal


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("[/up3/Resize]", "[/up3/Resize]", id="markup"),
        pytest.param("größe", "größe", id="letters"),
        pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="terminal-escape"),
        pytest.param("a\nb", "a\\nb", id="line-end"),
        pytest.param("a\u202eb", "a\\u202eb", id="right-to-left"),
        pytest.param("a\udcffb", "a\\udcffb", id="surrogate"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(name: str, text: str) -> None:
    assert terminal.printable(name) == text


def test_a_message_keeps_its_lines_and_loses_what_a_terminal_obeys() -> None:
    text = "one\n  \x1b[31mtwo\x00 \ud800 \u202e [/x] 模型"

    assert terminal.told(text) == "one\n  \\x1b[31mtwo\\x00 \\ud800 \\u202e [/x] 模型"


def test_a_line_of_megabytes_is_told_by_its_ends() -> None:
    told = terminal.told("start" + "x" * 10_000_000 + "end\nnext")

    assert told.startswith("start")
    assert told.endswith("end\nnext")
    assert len(told) < 3000


def test_what_is_spelled_out_is_told_by_its_ends_too_with_the_length_between() -> None:
    told = terminal.printable("node 'a" + "\x1b" * 100_000 + "z' is odd")

    # Each escape takes four characters; "node 'a" takes 7, "z' is odd" 9.
    assert told.startswith("node 'a\\x1b")
    assert told.endswith("z' is odd")
    assert f"[... {4 * 100_000 + 7 + 9 - 2000} more ...]" in told


def test_a_line_of_usual_length_is_told_whole() -> None:
    assert terminal.told("x" * 2000) == "x" * 2000
