"""What the documents say is so: links lead somewhere, messages and keys exist."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ascendflow.cann.reference import page as deviations_page
from ascendflow.manifest.reference import page
from ascendflow.manifest.schema import read
from ascendflow.metrics.registry import METRICS

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        REPOSITORY / "README.md",
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("pipelines/*/README.md"),
    ]
)

NAMED = re.compile(r"`((?:ascendflow|docs|tests|benchmarks|pipelines|\.ci)/[\w./-]*)`")
LINKED = re.compile(r"\]\(([^)#:]+)(?:#[\w-]*)?\)")
BLOCK = re.compile(r"`([a-z_]+): \{([a-z_]+):")


def _texts() -> list[str]:
    """Return every piece of text in the package's code, those of one f-string joined."""
    texts = []
    for file in sorted(REPOSITORY.glob("ascendflow/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    v.value if isinstance(v, ast.Constant) else "\0" for v in node.values
                ]
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return texts


def _messages(text: str) -> list[str]:
    """Return what the first column of each table quotes."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [
        quoted for row in rows for quoted in re.findall(r"`([^`]+)`", row.split(" | ")[0])
    ]


def _unsaid(messages: list[str], texts: list[str]) -> list[str]:
    """Return the messages of which some piece between dots is in no text of the code."""
    said = "\n".join(texts)
    return [
        message
        for message in messages
        for piece in message.split("...")
        if len(piece.strip(" ():,;=./")) > 2 and piece.strip(" ():,;=.") not in said
    ]


def _lost(page_text: str, folder: Path) -> list[str]:
    """Return the paths that a page names and nobody finds."""
    named = [(path, REPOSITORY) for path in NAMED.findall(page_text)]
    linked = [(path, folder) for path in LINKED.findall(page_text)]
    return [path for path, base in [*named, *linked] if not (base / path).exists()]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_every_path_that_a_page_names_is_there(path: Path) -> None:
    assert _lost(path.read_text(), path.parent) == []


def test_a_path_that_is_not_there_is_noticed() -> None:
    text = "see `docs/nothing.md`, `docs/` and [this](cache.md) or [that](gone.md#why)"

    assert _lost(text, REPOSITORY / "docs") == ["docs/nothing.md", "gone.md"]


def test_every_message_that_is_explained_is_one_of_the_code() -> None:
    messages = _messages((REPOSITORY / "docs" / "messages.md").read_text())

    assert len(messages) > 50
    assert _unsaid(messages, _texts()) == []


def test_a_message_that_nobody_says_is_noticed() -> None:
    assert _unsaid(["is ..., must be ...", "is purple: ..."], _texts()) == [
        "is purple: ..."
    ]


ERRORS = ("StageError", "ToolNotFoundError", "ToolFailedError", "ManifestError")
BUILDING = "arguments atc interpreter made_om out_nodes outcome ready set_env toolkit"
EXPLAINED = (
    *("ascendflow/manifest/a*.py", "ascendflow/manifest/precision_keys.py"),
    *(f"ascendflow/backends/cann/{each}.py" for each in BUILDING.split()),
    "ascendflow/graph/cut.py",
)
"""Code of which every message is explained: what ATC takes, and how it is run."""


def _raised(file: Path) -> list[str]:
    """Return the messages of a module's errors, manifest problems and failures."""
    found = []
    for function in ast.walk(ast.parse(file.read_text())):
        if isinstance(function, ast.FunctionDef):
            found += _raised_in(function)
    return found


def _raised_in(function: ast.FunctionDef) -> list[str]:
    named: dict[str, list[str]] = {}
    found: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(_literal(node.value))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            place = 1 if node.func.id == "Problem" else 0
            told = node.func.id in (*ERRORS, "Problem", "Failure", "_unsound")
            if told and len(node.args) > place:
                text = node.args[place]
                own = named.get(text.id, []) if isinstance(text, ast.Name) else []
                found += own or [_literal(text)]
    return found


def _literal(node: ast.expr) -> str:
    values = node.values if isinstance(node, ast.JoinedStr) else [node]
    parts = [v.value if isinstance(v, ast.Constant) else "\0" for v in values]
    return "".join(map(str, parts))


def _unexplained(messages: list[str], explained: list[str]) -> list[str]:
    """Return those of which no explained message has every piece; a bare value is none."""
    rows = [
        [bare for piece in row.split("...") if len(bare := piece.strip(" ():,;=.")) > 2]
        for row in explained
    ]
    return [
        message
        for message in messages
        if len(message.replace("\0", "").replace("convert", "").strip(" :(),E10")) > 12
        and not any(row and all(piece in message for piece in row) for row in rows)
    ]


def test_every_message_about_atc_is_explained() -> None:
    explained = _messages((REPOSITORY / "docs" / "messages.md").read_text())
    files = [file for each in EXPLAINED for file in REPOSITORY.glob(each)]
    messages = [message for file in files for message in _raised(file)]

    assert len(messages) > 80
    assert _unexplained(messages, explained) == []


def test_a_message_that_is_not_explained_is_noticed() -> None:
    said = ["convert: \0 is purple, not \0", "convert: \0"]

    assert _unexplained(said, ["is purple, ...", "..."]) == []
    assert _unexplained(said, ["is green, ...", "..."]) == said[:1]


def test_the_page_of_keys_is_that_of_the_schema() -> None:
    committed = (REPOSITORY / "docs" / "manifest.md").read_text()

    assert committed == page("manifest"), (
        "run: ./run ascendflow schema describe manifest > docs/manifest.md"
    )


def test_the_page_of_deviations_is_that_of_the_code() -> None:
    committed = (REPOSITORY / "docs" / "deviations.md").read_text()

    assert committed == deviations_page(), (
        "run: ./run ascendflow schema describe deviations > docs/deviations.md"
    )


def test_every_metric_has_its_row() -> None:
    rows = (REPOSITORY / "docs" / "metrics.md").read_text().splitlines()

    for name, metric in METRICS.items():
        formula = metric.formula.replace("|", r"\|")
        assert f"| `{name}` | {metric.direction} | {metric.unit} | `{formula}` |" in rows


def test_every_block_that_a_message_advises_is_in_the_manifest() -> None:
    """A hint that names a key which does not exist costs more than no hint."""
    advised = {found for text in _texts() for found in BLOCK.findall(text)}

    assert advised >= {("export", "opset"), ("rewrite", "allow_lossy")}
    assert {pair for pair in advised if not _is_key(*pair)} == set()
    assert not _is_key("check", "allow_lossy")


def _is_key(block: str, key: str) -> bool:
    schema: dict[str, Any] = json.loads(read("manifest"))
    named = json.dumps(schema["properties"].get(block, {}))
    found = re.search(r"#/\$defs/(\w+)", named)
    return found is not None and key in schema["$defs"][found[1]]["properties"]


def _tests_of_hardware() -> tuple[set[str], set[str]]:
    """Return the names of all tests that need CANN, and the questions that they answer."""
    names, questions = set(), set()
    for file in REPOSITORY.glob("tests/hardware/test_*.py"):
        text = file.read_text()
        assert "pytestmark = pytest.mark.cann" in text, file.name
        names |= set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
        questions |= set(
            re.findall(r"(?:answer|settled)\(\s*(?:\w+,\s*)?\"([a-z0-9-]+)\"", text)
        )
    return names, questions


def test_every_test_of_hardware_is_listed_with_what_it_proves() -> None:
    table = re.findall(
        r"^\| (?:`([a-z0-9-]+)`)? ?\| `(test_\w+)` \| (.+) \| (.+) \|$",
        (REPOSITORY / "docs" / "hardware.md").read_text(),
        re.MULTILINE,
    )
    names, questions = _tests_of_hardware()

    assert {test for _, test, _, _ in table} == names
    assert {question for question, _, _, _ in table if question} == questions
    assert len(questions) == 12
