from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.build.log_ending import LINES, telling

if TYPE_CHECKING:
    from pathlib import Path

TORCH = "/checkout/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py"


def of(tmp_path: Path, text: str) -> list[str]:
    log = tmp_path / "log.txt"
    log.write_text(text)
    return telling(log)


def test_frames_of_the_user_stay_and_those_of_libraries_go(tmp_path: Path) -> None:
    log = f"""\
Traceback (most recent call last):
  File "{TORCH}", line 1789, in _call_impl
    return forward_call(*args,
                        **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^
  File "/checkout/pipelines/net/model.py", line 8, in forward
    return self.e(ids - 500)
           ^^^^^^^^^^^^^^^^^
  File "<frozen importlib._bootstrap>", line 241, in _call_with_frames_removed
  [Previous line repeated 3 more times]
IndexError: index out of range in self
  and a second line of it
"""
    assert of(tmp_path, log) == [
        "Traceback (most recent call last):",
        '  File "/checkout/pipelines/net/model.py", line 8, in forward',
        "    return self.e(ids - 500)",
        "  [Previous line repeated 3 more times]",
        "IndexError: index out of range in self",
        "  and a second line of it",
    ]


def test_place_of_a_syntax_error_keeps_its_caret(tmp_path: Path) -> None:
    log = f"""\
  File "{TORCH}", line 1, in _call
    source()
  File "/checkout/pipelines/net/model.py", line 3
    def build(
             ^
SyntaxError: '(' was never closed
"""
    assert of(tmp_path, log) == log.splitlines()[2:]


def test_colours_and_what_torch_says_at_every_start_go(tmp_path: Path) -> None:
    log = (
        "W1201 04:30:43.661000 24282 torch/onnx/_internal/exporter/_registration.py:107] "
        "torchvision is not installed. Skipping torchvision::nms\n"
        "This is \x1b[96mstep 3/3\x1b[0m of exporting\n"
        "- If there is a missing ONNX function, implement it and register it.\n"
        "- If there is a doubt, read on\n"
    )
    assert of(tmp_path, log) == [
        "This is step 3/3 of exporting",
        "- If there is a doubt, read on",
    ]


def test_the_last_lines_are_counted_after_the_others_are_gone(tmp_path: Path) -> None:
    said = [f"line {number}" for number in range(30)]
    frame = f'  File "{TORCH}", line 1, in f\n    g()\n'

    assert of(tmp_path, "\n".join(said) + "\n" + 50 * frame) == said[-LINES:]


def test_log_that_is_not_there_ends_with_nothing(tmp_path: Path) -> None:
    assert telling(tmp_path / "no.txt") == []
