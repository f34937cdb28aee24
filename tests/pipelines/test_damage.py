"""What was damaged or lost is restored from the store; only a lost blob costs a run."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.checkouts import Checkout

GARBAGE = bytes(range(256))


def _edit_a_byte(convert: Path) -> None:
    path = convert / "model" / "content.json"
    stat = path.stat()
    path.write_bytes(path.read_bytes().replace(b"convert", b"Convert"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _add_a_file(convert: Path) -> None:
    (convert / "model" / "weights.bin").write_bytes(b"x")


def _break_the_record(convert: Path) -> None:
    (convert / "record.json").write_bytes(GARBAGE)


def _lie_in_the_record(convert: Path) -> None:
    path = convert / "record.json"
    path.write_text(path.read_text().replace("force_fp16", "force_fp32"))


def _link_an_output(convert: Path) -> None:
    shutil.move(convert / "model" / "content.json", convert / "elsewhere.json")
    (convert / "model" / "content.json").symlink_to("../elsewhere.json")


@pytest.mark.parametrize(
    "damage",
    [
        _edit_a_byte,
        _add_a_file,
        _break_the_record,
        _lie_in_the_record,
        _link_an_output,
        lambda convert: (convert / "conversion.json").unlink(),
        lambda convert: shutil.rmtree(convert / "model"),
        lambda convert: (convert / "record.json").unlink(),
        shutil.rmtree,
    ],
    ids=[
        "byte-edited",
        "file-added",
        "record-garbage",
        "record-edited",
        "output-is-a-link",
        "file-deleted",
        "folder-deleted",
        "record-deleted",
        "all-deleted",
    ],
)
def test_damaged_stage_is_restored_and_nothing_executes(
    checkout: Checkout, damage: Callable[[Path], None]
) -> None:
    """PL10. The verdict and the report are withdrawn with it, and come back."""
    before = checkout.outputs()
    damage(checkout.path("build/toy/convert"))
    run = checkout.doit()

    assert (run.code, run.executed) == (0, [])
    assert run.restored == ["convert", "gate", "report"]
    assert checkout.outputs() == before


def test_corrupt_blob_is_dropped_and_its_stage_executes(checkout: Checkout) -> None:
    before = checkout.outputs()
    digest = checkout.record("convert")["outputs"]["conversion.json"]["digest"]
    hexadecimal = digest.removeprefix("sha256:")
    blob = checkout.path(f".ascendflow/store/blobs/{hexadecimal[:2]}/{hexadecimal[2:]}")
    blob.chmod(0o644)
    blob.write_bytes(blob.read_bytes().replace(b"convert", b"Convert"))
    shutil.rmtree(checkout.path("build/toy/convert"))
    run = checkout.doit()

    assert (run.code, run.executed) == (0, ["convert"])
    assert run.restored == ["gate", "report"]
    assert checkout.outputs() == before
    assert b"Convert" not in blob.read_bytes()


def _flip(path: Path) -> None:
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "damage"),
    [("blobs/*/*", _flip), ("blobs/*/*", _halve), ("records/*/*/*", _halve)],
    ids=["blobs-flipped", "blobs-halved", "records-halved"],
)
def test_store_damaged_at_every_stage_costs_what_was_damaged(
    checkout: Checkout, what: str, damage: Callable[[Path], None]
) -> None:
    before = checkout.outputs()
    for path in checkout.path(".ascendflow/store").glob(what):
        path.chmod(0o644)
        damage(path)
    shutil.rmtree(checkout.path("build"))
    run = checkout.doit()

    assert (run.code, run.executed) == (0, ALL)
    assert not run.has_traceback
    assert checkout.outputs() == before
    assert checkout.doit("verify-store").code == 0


def test_records_damaged_at_every_stage_are_restored(checkout: Checkout) -> None:
    before = checkout.outputs()
    for path in checkout.path("build/toy").glob("*/record.json"):
        path.write_bytes(GARBAGE)
    run = checkout.doit()

    assert (run.code, run.executed, run.restored) == (0, [], ALL)
    assert checkout.outputs() == before


def test_outputs_are_copies_that_share_nothing_with_the_store(checkout: Checkout) -> None:
    shutil.rmtree(checkout.path("build"))
    checkout.doit()

    for path in checkout.path("build/toy").glob("*/**/*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_nlink == 1


@pytest.mark.parametrize(
    "content", [None, GARBAGE, b'{"samples:toy": 3}'], ids=["gone", "garbage", "other"]
)
def test_lost_doit_database_restores_every_stage(
    checkout: Checkout, content: bytes | None
) -> None:
    database = checkout.path(".ascendflow/doit.json")
    json.loads(database.read_text())
    database.unlink()
    if content is not None:
        database.write_bytes(content)
    run = checkout.doit()
    again = checkout.doit()

    assert (run.code, run.executed) == (0, [])
    assert run.restored == ALL
    assert (again.executed, again.restored) == ([], [])


@pytest.mark.parametrize("what", [[], ["-s", "toy"]], ids=" ".join)
def test_forgotten_stages_are_restored(checkout: Checkout, what: list[str]) -> None:
    forgotten = checkout.doit("forget", *what)
    run = checkout.doit()

    assert forgotten.code == 0
    assert (run.code, run.executed) == (0, [])
    assert run.restored == ALL


def test_one_forgotten_stage_is_restored_alone(checkout: Checkout) -> None:
    checkout.doit("forget", "check:toy")
    run = checkout.doit()

    assert (run.executed, run.restored) == ([], ["check"])


@pytest.mark.parametrize(
    "content", [None, GARBAGE, b"[]"], ids=["gone", "garbage", "other"]
)
def test_damaged_disposable_files_cost_nothing(
    checkout: Checkout, content: bytes | None
) -> None:
    names = (".ascendflow/index.tsv", ".ascendflow/code.json", "build/toy/plan.json")
    for path in map(checkout.path, names):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
    run = checkout.doit()

    assert (run.code, run.executed, run.restored) == (0, [], [])


def test_damaged_timings_are_no_reason_to_fail(checkout: Checkout) -> None:
    checkout.path(".ascendflow/timings.json").write_bytes(GARBAGE)
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    run = checkout.doit()

    assert (run.code, run.executed) == (0, ["evaluate", "gate", "report"])
    assert "evaluate:toy" in json.loads(
        checkout.path(".ascendflow/timings.json").read_text()
    )


def test_checkout_copied_elsewhere_executes_nothing(
    checkout: Checkout, tmp_path: Path
) -> None:
    elsewhere = checkout.copied_to(tmp_path / "else" / "where")
    for path in elsewhere.folder.rglob("*"):
        os.utime(path)
    run = elsewhere.doit()
    shutil.rmtree(elsewhere.path("build"))
    rebuilt = elsewhere.doit()

    assert (run.code, run.executed, run.restored) == (0, [], [])
    assert (rebuilt.code, rebuilt.executed, rebuilt.restored) == (0, [], ALL)
    assert rebuilt.text.endswith(f"{PASSED}\n")


def test_two_checkouts_make_the_same_records(checkout: Checkout, fresh: Checkout) -> None:
    """No host, user, path, time, locale, umask or hash seed is in a record."""
    run = fresh.doit(
        TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7", USER="somebody", HOME="/nowhere"
    )

    assert run.executed == ALL
    assert fresh.outputs() == checkout.outputs()
