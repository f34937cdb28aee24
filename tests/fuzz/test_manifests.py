"""500 manifests with something wrong: each loads, or file, line and key are named.

`python -m tests.fuzz manifest NUMBER` takes one of them again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import ManifestError
from ascendflow.manifest import source as yaml
from tests.fuzz import manifests
from tests.fuzz.fleet import Outcome, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 500
WORD = r"[\w*/-]+"
KEY = rf"(?:{WORD}|\[[^\n]+?\])(?:\.{WORD}|\[[^\n]+?\])*"
PROBLEM = re.compile(
    r"pipelines/pan/manifest\.yaml:(?P<line>\d+): "
    rf"(?P<key>the manifest|{KEY}) (?P<text>\S.*)"
)
HINT = re.compile(r"  hint: \S.*")
OF_THE_WHOLE = re.compile(
    "is not valid YAML|is not UTF-8|is empty|is nested too deeply|is larger than|"
    "holds more than|holds a YAML directive|holds itself|must be a mapping|"
    "has a key that is no text|merges what is no mapping|has the tag"
)
"""What is wrong with a text that has no keys yet, or with its outermost value."""


def wrong(outcome: Outcome, content: bytes) -> str | None:
    """Return what is wrong with an outcome, or None."""
    if (why := outcome.why_bad(ManifestError.exit_code)) or outcome.how == "passed":
        return why
    return next(_misplaced(outcome.said, content), None)


def _misplaced(said: str, content: bytes) -> Iterator[str]:
    """Find lines of a message that do not say where, or say it wrongly."""
    if not said.isprintable() and not said.replace("\n", "").isprintable():
        yield f"holds control characters: {said!r}"
    text = content.decode(errors="replace")
    lines = re.split("\r\n|[\n\r]", text)
    # An end of a line to YAML, but not within quotes, nor to every editor.
    can_count = not re.search("[\x85\u2028\u2029]", text)
    for each in said.split("\n"):
        if HINT.fullmatch(each):
            continue
        if (problem := PROBLEM.fullmatch(each)) is None:
            yield f"no file, line and key: {each!r}"
            continue
        number, key = int(problem["line"]), problem["key"]
        if can_count and not 1 <= number <= len(lines):
            yield f"line {number} of {len(lines)}: {each}"
        elif key == "the manifest":
            if not OF_THE_WHOLE.match(problem["text"]):
                yield f"no key: {each}"
        elif can_count and number != 1 and not _names_a_part(each, lines[number - 1]):
            yield f"line {number} has nothing of {key}: {lines[number - 1]!r}"


def _names_a_part(problem: str, line: str) -> bool:
    """Whether a line has a word of a problem's key; a list's items have none."""
    key = problem.split(" ")[1]
    words = [word for word in re.split(r"[.\[\]'\"]", key) if word and not word.isdigit()]
    is_there = any(word in line for word in words)
    told_by_place = ("has a key that is no text", "merges what is no mapping")
    return (
        is_there
        or "\\" in line
        or "[" in key
        or any(each in problem for each in told_by_place)
    )


@pytest.mark.slow
def test_each_mutated_manifest_loads_or_says_file_line_and_key(tmp_path: Path) -> None:
    found = list(outcomes("manifest", range(COUNT), tmp_path))
    contents = map(manifests.mutated, range(COUNT))
    whys = [wrong(*each) for each in zip(found, contents, strict=True)]
    bad = {at: why for at, why in enumerate(whys) if why is not None}

    assert bad == {}
    assert len(found) == COUNT
    told = [o.said for o in found if o.how == "refused"]
    # What is no YAML at all tries nothing of what a manifest must be.
    assert sum("the manifest is" not in said for said in told) > COUNT // 3
    assert len(found) - len(told) > COUNT // 20


def test_manifest_that_is_not_mutated_loads() -> None:
    assert yaml.parse(manifests.mutated(0)).problems == []


def test_outcome_that_is_wrong_is_found() -> None:
    said = "pipelines/pan/manifest.yaml:2: model must be text, got 5\n  hint: quote it"
    good, content = Outcome(1, "refused", "load", said, 3), b"schema_version: 1\nmodel: 5\n"

    assert wrong(good, content) is None
    assert wrong(replace(good, how="bug"), content) is not None
    assert wrong(replace(good, exit_code=2), content) is not None
    assert wrong(replace(good, escaped=("x",)), content) is not None
    for spoiled in (
        said.replace(":2:", ":3:"),
        said.replace(":2:", ":9:"),
        said.replace("model", "the manifest"),
        said.replace("pipelines/pan/", ""),
        said.replace(":2: model", ": model"),
        said.replace("5", "\x1b[31m"),
    ):
        assert wrong(replace(good, said=spoiled), content) is not None
