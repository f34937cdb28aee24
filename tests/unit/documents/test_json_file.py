from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ascendflow.documents.json_file import json_text, read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path


def test_text_is_sorted_ascii_with_a_newline_at_its_end() -> None:
    assert json_text({"b": "é", "a": [1.0]}) == (
        '{\n "a": [\n  1.0\n ],\n "b": "\\u00e9"\n}\n'
    )


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_json_has_no_word_for_is_refused(number: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"a": number})


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"é": "\udc80", "n": [1, 1.5, None, True]})

    assert read_json(tmp_path / "a.json") == {"é": "\udc80", "n": [1, 1.5, None, True]}
