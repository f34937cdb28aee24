from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.publish import new_work_folder, publish, withdraw
from ascendflow.errors import CacheIntegrityError

if TYPE_CHECKING:
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
        publish(workshop.project, workshop.plan, record, work)

    assert workshop.path("rewrite/rewritten/content").read_text() == "mine"


def test_published_file_need_not_be_hashed(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    hashed = workshop.project.index.hashed_files

    assert workshop.judge("rewrite").is_up_to_date
    assert workshop.project.index.hashed_files == hashed
    workshop.path("rewrite/rewritten/content").write_text("made by rewrite")
    assert workshop.judge("rewrite").is_up_to_date
    assert workshop.project.index.hashed_files == hashed + 1


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
    assert sorted(path.name for path in workshop.path("").iterdir()) == [".work", "convert"]
