"""The page of the manifest's keys says what the schema says."""

from __future__ import annotations

import pytest

from ascendflow.manifest.models import Manifest
from ascendflow.manifest.reference import page


def test_every_key_of_every_block_has_a_row() -> None:
    rows = [line for line in page("manifest").splitlines() if line.startswith("| `")]

    blocks, seen = [Manifest], 0
    while blocks:
        for name, field in blocks.pop().model_fields.items():
            assert any(row.startswith(f"| `{name}` |") for row in rows), name
            seen += 1
            blocks += [
                kind
                for kind in _models(field.annotation)
                if kind.__name__ != "Threshold"  # spelled in one line
            ]
    assert len(rows) == seen


def _models(annotation: object) -> list[type[Manifest]]:
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return [annotation]
    inner = getattr(annotation, "__args__", ())
    return [found for each in inner for found in _models(each)]


@pytest.mark.parametrize(
    "row",
    [
        '| `cann` | text | required | CANN version, quoted: "8.1". |',
        "| `count` | integer >= 1 | `4` | How many samples. |",
        "| `enabled` | boolean | `true` | `false` passes the model on as it is. |",
        "| `seed` | integer >= 0 < 4294967296 | `0` | Same seed, same samples. |",
    ],
)
def test_row_says_value_default_and_meaning(row: str) -> None:
    assert row in page("manifest").splitlines()


def test_blocks_are_named_by_their_place() -> None:
    headings = [line for line in page("manifest").splitlines() if line.startswith("#")]

    assert headings[0] == "# The keys of a manifest"
    assert "## source.torch.weights" in headings
    assert "## gate.metric" in headings
    assert "## rewrite.rules" in headings  # one of several forms that an entry has


def test_what_selects_nodes_is_defined() -> None:
    _, _, rules = page("manifest").partition("## rewrite.rules")
    rows = {line.split("`")[1]: line for line in rules.splitlines()[:12] if "`" in line}

    for word in ("glob", "first output", "matches no node", "is an error", "Absent: every"):
        assert word in rows["nodes"], word
    for word in ("at most", "left alone", "is an error", "Absent: any number"):
        assert word in rows["count"], word


def test_every_document_can_be_described() -> None:
    from ascendflow.manifest.schema import DOCUMENTS

    for kind, _ in DOCUMENTS:
        what = f"a {kind}" if kind == "manifest" else f"`{kind}`"
        assert page(kind).startswith(f"# The keys of {what}\n"), kind


def test_what_may_be_null_says_so_and_no_block_is_told_twice() -> None:
    told = page("lint")

    assert "| `skipped` | text or null | required |" in told
    assert told.count("`stops_convert`: the emulator converts no such model") == 1
