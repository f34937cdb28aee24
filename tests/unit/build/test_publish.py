from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ascendflow.build import publish as module
from ascendflow.build.publish import (
    new_work_folder,
    publish,
    withdraw,
    withdraw_strays,
    withdrawn_with,
)
from ascendflow.cache.record import save_record
from ascendflow.errors import CacheIntegrityError
from ascendflow.plan import Plan
from ascendflow.reads.names import identity
from tests.workshops import make_outputs, planned

if TYPE_CHECKING:
    from ascendflow.documents.record import Record
    from tests.workshops import Workshop


def test_record_that_cannot_be_published_leaves_the_folder_as_it_was(
    workshop: Workshop,
) -> None:
    workshop.bring_up("rewrite")
    record = workshop.judge("rewrite").record
    assert record is not None
    workshop.path("rewrite/rewritten/content").write_text("mine")
    for _, path in workshop.project.store.blobs.files():
        workshop.repository.joinpath(path).unlink()
    work = new_work_folder(workshop.project, workshop.plan, "rewrite")

    with pytest.raises(CacheIntegrityError, match="is missing"):
        publish(workshop.project, workshop.plan, record["stage"], record, work)

    assert workshop.path("rewrite/rewritten/content").read_text() == "mine"


def test_published_file_need_not_be_hashed(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    hashed = workshop.project.index.hashed_files

    assert workshop.judge("rewrite").is_up_to_date
    assert workshop.project.index.hashed_files == hashed
    workshop.path("rewrite/rewritten/content").write_text("made by rewrite")
    assert workshop.judge("rewrite").is_up_to_date
    assert workshop.project.index.hashed_files == hashed + 1


def test_published_file_counts_as_unchanged_since_its_stage_wrote_it(
    workshop: Workshop,
) -> None:
    written = []

    def make(out: Path) -> None:
        make_outputs(workshop.plan.stage("gate"), out)
        written.append((out / "verdict.json").stat())

    workshop.makes["gate"] = make
    workshop.bring_up("rewrite", "convert", "gate")

    assert identity(workshop.path("gate/verdict.json").stat()) == identity(written[0])


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_a_stage_left_beside_its_artifacts_is_not_published(
    workshop: Workshop, kind: str
) -> None:
    def make(out: Path) -> None:
        make_outputs(workshop.plan.stage("rewrite"), out)
        match kind:
            case "file":
                (out / "more").write_text("more")
            case "folder":
                (out / "more" / "inner").mkdir(parents=True)
            case _:
                (out / "more").symlink_to(workshop.repository)

    workshop.makes["rewrite"] = make
    workshop.bring_up("rewrite")

    names = {path.name for path in workshop.path("rewrite").iterdir()}
    assert names == {*workshop.plan.stage("rewrite").outputs, "log.txt", "record.json"}
    assert workshop.repository.is_dir()


@pytest.mark.parametrize("kind", ["file", "link", "dead link"])
def test_stage_is_published_where_something_else_than_a_folder_is(
    workshop: Workshop, kind: str
) -> None:
    workshop.bring_up("rewrite")
    folder, aside = workshop.path("rewrite"), workshop.repository / "aside"
    shutil.move(folder, aside)
    if kind == "file":
        folder.write_text("not ours")
    else:
        folder.symlink_to(aside if kind == "link" else workshop.repository / "nowhere")
    workshop.change("rewrite", config={"level": 2})
    workshop.bring_up("rewrite")

    assert workshop.judge("rewrite").is_up_to_date
    assert not folder.is_symlink()
    assert (aside / "rewritten" / "content").is_file()


def test_withdrawing_the_report_leaves_the_verdict(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert", "gate", "report")
    withdraw(workshop.project, workshop.plan, "report")

    assert not workshop.path("report").exists()
    assert workshop.path("gate/verdict.json").exists()
    withdraw(workshop.project, workshop.plan, "rewrite")
    names = sorted(path.name for path in workshop.path("").iterdir())
    assert names == [".withdrawn", ".work", "convert"]


def test_a_verdict_that_a_user_removed_was_taken_out_by_no_stage(
    workshop: Workshop,
) -> None:
    workshop.bring_up("rewrite", "convert", "gate")
    withdraw(workshop.project, workshop.plan, "convert")
    workshop.bring_up("convert", "gate")
    shutil.rmtree(workshop.path("gate"))

    assert [str(each) for each in workshop.judge("gate").reasons] == ["never built"]


def test_who_took_a_verdict_out_must_be_a_stage(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert", "gate")
    withdraw(workshop.project, workshop.plan, "rewrite")
    workshop.bring_up("rewrite", "convert")
    note = Path(workshop.project.withdrawal_path(workshop.plan, "gate"))

    assert str(workshop.judge("gate").reasons[0]) == "taken out when rewrite:toy ran"
    for damage in (b"\xff", b"nobody", b""):
        note.write_bytes(damage)
        assert str(workshop.judge("gate").reasons[0]) == "never built"


def test_verdict_of_one_backend_outlives_a_change_of_the_other() -> None:
    before = {
        "rewrite": (),
        "convert@a": ("rewrite",),
        "gate@a": ("convert@a",),
        "report@a": ("gate@a",),
        "convert@b": ("rewrite",),
        "gate@b": ("convert@b",),
        "contrast": ("gate@a", "gate@b"),
    }
    stages = tuple(
        planned(name, {each: each for each in after}, ()) for name, after in before.items()
    )
    plan = Plan("toy", "toy", "pipelines/toy", {}, stages)

    assert withdrawn_with(plan, "rewrite") == [
        *("gate@a", "report@a", "gate@b", "contrast"),
    ]
    assert withdrawn_with(plan, "convert@a") == ["gate@a", "report@a", "contrast"]
    assert withdrawn_with(plan, "convert@b") == ["gate@b", "contrast"]
    # The two may be made at once, and neither takes the other out.
    assert withdrawn_with(plan, "report@a") == []


def test_verdicts_of_backends_that_are_no_longer_planned_go(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert", "gate", "report")
    for stray in ("gate@cann", "report@emulator", "contrast", "convert@cann"):
        workshop.path(stray).mkdir()
    withdraw_strays(workshop.project, workshop.plan)

    left = {path.name for path in workshop.path("").iterdir()} - {".work"}
    assert left == {"rewrite", "convert", "gate", "report", "convert@cann"}


@pytest.mark.parametrize("moment", ["before", "while"])
def test_what_is_written_to_after_it_was_digested_is_not_taken_for_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A process that left the child's group, session and environment may still write."""

    def write(folder: Path) -> None:
        with (folder / "rewritten" / "content").open("a") as file:
            file.write(" and more")

    kept = workshop.project.store.put_record

    def put_record(record: Record) -> Record:
        (work,) = workshop.path(".work").glob("rewrite-*")
        write(work / "out")
        return kept(record)

    def save_too(record: Record, path: Path) -> None:
        write(path.parent)
        save_record(record, path)

    if moment == "before":
        monkeypatch.setattr(workshop.project.store, "put_record", put_record)
    else:
        monkeypatch.setattr(module, "save_record", save_too)
    workshop.bring_up("rewrite")

    text = workshop.path("rewrite/rewritten/content").read_text()
    assert workshop.judge("rewrite").is_up_to_date is (text == "made by rewrite")
    assert (text == "made by rewrite") is (moment == "before")


def test_branches_take_the_same_verdict_out_at_once(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.bring_up("rewrite", "convert", "gate")
    seen = os.path.lexists

    def overtaken(path: Path) -> bool:
        was = seen(path)
        if path == workshop.path("gate"):
            shutil.rmtree(path, ignore_errors=True)
        return was

    monkeypatch.setattr(os.path, "lexists", overtaken)
    withdraw(workshop.project, workshop.plan, "convert")

    assert not workshop.path("gate").exists()
