from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.digest import digest_bytes
from ascendflow.cache.fingerprint import key_of
from ascendflow.cache.index import Index
from ascendflow.cache.reads import MISSING, digest_reads, listing, redigest
from ascendflow.cache.staleness import compare_reads
from ascendflow.errors import AscendflowError, ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.documents.record import Reads

BASE = digest_bytes(b"base")


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / ".ascendflow" / "index")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "pipeline"
    (made / "pictures").mkdir(parents=True)
    (made / "model.py").write_text("x = 1\n")
    (made / "pictures" / "0.png").write_bytes(b"0")
    return made


def resolver(folder: Path) -> Callable[[str], Path]:
    return lambda name: folder / name.removeprefix("pipeline:")


def names() -> Reads:
    return {
        "files": {"pipeline:pictures/0.png": "", "pipeline:model.py": ""},
        "folders": {"pipeline:pictures": ""},
        "missing": ["pipeline:model.yaml"],
        "distributions": {"onnx": ""},
    }


def test_reads_are_digested_sorted_and_with_versions(folder: Path, index: Index) -> None:
    reads = digest_reads(names(), resolver(folder), index)

    assert reads == {
        "files": {
            "pipeline:model.py": digest_bytes(b"x = 1\n"),
            "pipeline:pictures/0.png": digest_bytes(b"0"),
        },
        "folders": {"pipeline:pictures": digest_bytes(b'["0.png"]')},
        "missing": ["pipeline:model.yaml"],
        "distributions": {"onnx": importlib.metadata.version("onnx")},
    }
    assert redigest(reads, resolver(folder), index) == reads


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(
            lambda f: (f / "model.py").write_text("x = 2\n"), "read_changed", id="edited"
        ),
        pytest.param(lambda f: (f / "model.py").unlink(), "read_gone", id="deleted"),
        pytest.param(
            lambda f: (f / "pictures" / "1.png").write_bytes(b""),
            "listing_changed",
            id="added",
        ),
        pytest.param(
            lambda f: (f / "pictures").rename(f / "images"), "read_gone", id="folder-gone"
        ),
        pytest.param(
            lambda f: (f / "model.yaml").write_text(""), "read_appeared", id="appeared"
        ),
        pytest.param(
            lambda f: (f / "model.yaml").symlink_to("nowhere"),
            "read_appeared",
            id="link-appeared",
        ),
    ],
)
def test_a_changed_read_changes_the_key_and_says_why(
    folder: Path, index: Index, change: Callable[[Path], object], reason: str
) -> None:
    before = digest_reads(names(), resolver(folder), index)
    change(folder)
    now = redigest(before, resolver(folder), index)

    assert key_of(BASE, now) != key_of(BASE, before)
    assert reason in {found.kind for found in compare_reads(before, now)}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda f: (f / "other.py").write_text(""), id="file-not-read"),
        pytest.param(lambda f: (f / "pictures" / "__pycache__").mkdir(), id="pycache"),
        pytest.param(lambda f: (f / "model.py").touch(), id="touched"),
    ],
)
def test_what_was_not_read_does_not_change_the_key(
    folder: Path, index: Index, change: Callable[[Path], object]
) -> None:
    before = digest_reads(names(), resolver(folder), index)
    change(folder)

    assert redigest(before, resolver(folder), index) == before


def test_folders_of_runs_do_not_count_at_the_top_and_do_elsewhere(folder: Path) -> None:
    top, elsewhere = listing(folder, is_top=True), listing(folder / "pictures")
    for place in (folder, folder / "pictures"):
        for name in ("build", "__pycache__"):
            (place / name).mkdir(exist_ok=True)

    assert listing(folder, is_top=True) == top
    assert listing(folder / "pictures") != elsewhere
    (folder / "pictures" / "build").rmdir()
    assert listing(folder / "pictures") == elsewhere


def test_content_of_a_listed_file_is_not_in_the_listing(folder: Path) -> None:
    before = listing(folder / "pictures")
    (folder / "pictures" / "0.png").write_bytes(b"other")

    assert listing(folder / "pictures") == before


def test_another_version_of_a_distribution_changes_the_key(
    folder: Path, index: Index
) -> None:
    before = digest_reads(names(), resolver(folder), index)
    before["distributions"] = {"onnx": "0.1", "no-such-distribution": "1"}
    now = redigest(before, resolver(folder), index)

    assert now["distributions"]["no-such-distribution"] == "absent"
    assert {reason.subject for reason in compare_reads(before, now)} == set(
        before["distributions"]
    )


def test_what_is_gone_when_it_should_be_recorded_is_an_error(
    folder: Path, index: Index
) -> None:
    (folder / "model.py").unlink()

    with pytest.raises(AscendflowError, match=r"pipeline:model\.py was read and is gone"):
        digest_reads(names(), resolver(folder), index)


def test_what_appeared_while_the_stage_ran_makes_its_record_stale(
    folder: Path, index: Index
) -> None:
    (folder / "model.yaml").write_text("")
    recorded = digest_reads(names(), resolver(folder), index)
    now = redigest(recorded, resolver(folder), index)

    assert [reason.kind for reason in compare_reads(recorded, now)] == ["read_appeared"]


def test_a_distribution_that_is_not_installed_is_not_recorded(
    folder: Path, index: Index
) -> None:
    reads = names()
    reads["distributions"] = {"no-such-distribution": ""}

    with pytest.raises(ToolNotFoundError):
        digest_reads(reads, resolver(folder), index)


def test_what_lay_below_a_root_that_is_no_longer_declared_is_gone(
    folder: Path, index: Index
) -> None:
    recorded = digest_reads(names(), resolver(folder), index)

    def without_roots(name: str) -> Path:
        raise KeyError(name)

    now = redigest(recorded, without_roots, index)

    assert set(now["files"].values()) == {MISSING}
    assert key_of("sha256:" + "0" * 64, now) != key_of("sha256:" + "0" * 64, recorded)
