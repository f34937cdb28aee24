from __future__ import annotations

from shutil import rmtree
from typing import TYPE_CHECKING

import pytest

from ascendflow.build import bring_up as module
from ascendflow.build import project
from ascendflow.build.bring_up import repeat
from ascendflow.errors import InternalError, StageError
from tests.workshops import Workshop, make_outputs

if TYPE_CHECKING:
    from pathlib import Path


def test_new_stage_is_executed_and_an_undone_edit_is_restored(workshop: Workshop) -> None:
    first = workshop.bring_up("rewrite")
    workshop.change("rewrite", config={"level": 2})
    second = workshop.bring_up("rewrite")
    workshop.change("rewrite", config={"level": 1})
    third = workshop.bring_up("rewrite")

    assert [first.how, second.how, third.how] == ["executed", "executed", "restored"]
    assert (first.wall_s, third.wall_s) == (1.5, 0.0)
    assert first.key == third.key != second.key
    assert third.warnings == ("rewrite warned",)
    assert workshop.judge("rewrite").is_up_to_date
    assert (
        workshop.path("rewrite/log.txt").read_text().startswith("restored from the store")
    )


def test_stage_that_reads_no_file_is_kept_by_all_of_its_settings(
    workshop: Workshop,
) -> None:
    """PL01, PL02: two settings that change at different times do not undo each other."""
    assert workshop.plan.stage("rewrite").inputs == {}
    for soc, precision in (("P3", "fp16"), ("P3", "fp32"), ("B1", "fp32")):
        workshop.change("rewrite", config={"soc": soc, "precision": precision})
        was_up_to_date = workshop.judge("rewrite").is_up_to_date
        workshop.bring_up("rewrite")

        assert not was_up_to_date
        assert workshop.reasons("rewrite") == workshop.reasons("rewrite") == []
    assert workshop.executed == ["rewrite"] * 3


def test_stage_without_its_input_is_refused_with_what_to_do(workshop: Workshop) -> None:
    with pytest.raises(
        StageError, match="input rewrite/rewritten does not exist"
    ) as caught:
        workshop.bring_up("convert")

    assert caught.value.hint == "run `doit model=toy`, or put the file there"


def test_verdict_and_report_leave_before_a_stage_starts(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert", "gate", "report")
    there: list[bool] = []

    def look(out: Path) -> None:
        names = ("gate", "report", "convert", "rewrite")
        there.extend(workshop.path(name).exists() for name in names)
        make_outputs(workshop.plan.stage("convert"), out)

    workshop.makes["convert"] = look
    workshop.change("convert", config={"level": 2})
    workshop.bring_up("convert")

    assert there == [False, False, False, True]


def test_failed_stage_keeps_its_log_and_records_nothing(workshop: Workshop) -> None:
    def fail(out: Path) -> None:
        (out / "rewritten").mkdir()
        raise StageError("rewrite: no", hint="think")

    workshop.makes["rewrite"] = fail
    with pytest.raises(StageError) as caught:
        workshop.bring_up("rewrite")

    assert str(caught.value) == (
        "rewrite: no\n  hint: think\n"
        "  its log is build/toy/rewrite/log.txt; it ends:\n    rewrite ran"
    )
    assert workshop.path("rewrite/log.txt").read_text() == "rewrite ran\n"
    assert [path.name for path in workshop.path("rewrite").iterdir()] == ["log.txt"]
    assert list(workshop.path(".work").iterdir()) == []
    del workshop.makes["rewrite"]
    assert workshop.bring_up("rewrite").how == "executed"


def test_where_the_log_is_is_no_hint(workshop: Workshop) -> None:
    def fail(_out: Path) -> None:
        raise StageError("rewrite: no")

    workshop.makes["rewrite"] = fail
    with pytest.raises(StageError) as caught:
        workshop.bring_up("rewrite")

    assert "hint" not in str(caught.value)
    assert str(caught.value).endswith("log.txt; it ends:\n    rewrite ran")


def test_bug_in_a_stage_keeps_its_log_too(workshop: Workshop) -> None:
    def fail(_out: Path) -> None:
        raise InternalError("oops")

    workshop.makes["rewrite"] = fail
    with pytest.raises(InternalError, match="oops"):
        workshop.bring_up("rewrite")

    assert workshop.path("rewrite/log.txt").read_text() == "rewrite ran\n"


def test_input_that_moved_meanwhile_is_an_error_and_nothing_is_recorded(
    workshop: Workshop,
) -> None:
    """PL04."""
    workshop.bring_up("rewrite")

    def move(out: Path) -> None:
        make_outputs(workshop.plan.stage("convert"), out)
        workshop.path("rewrite/rewritten/content").write_text("moved")

    workshop.makes["convert"] = move
    with pytest.raises(StageError, match="input rewritten changed while the stage ran"):
        workshop.bring_up("convert")

    assert workshop.judge("convert").record is None


@pytest.mark.parametrize(
    ("edited", "text"),
    [
        ("errors.py", "LIMIT = 2\n"),
        ("errors.py", "from ascendflow.new import LIMIT\n"),
        ("imported.py", "LIMIT = 2\n"),
    ],
)
def test_code_edited_since_the_run_began_is_an_error_and_nothing_is_recorded(
    workshop: Workshop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    edited: str,
    text: str,
) -> None:
    package = tmp_path / "ascendflow"
    package.mkdir()
    (package / "errors.py").write_text("from ascendflow.imported import LIMIT\n")
    (package / "imported.py").write_text("LIMIT = 1\n")
    code = package / edited
    before = code.read_text()
    monkeypatch.setattr(project, "PACKAGE", package)

    def edit(out: Path, text: str) -> None:
        make_outputs(workshop.plan.stage("rewrite"), out)
        code.write_text(text)
        if "new" in text:
            (package / "new.py").write_text("LIMIT = 1\n")

    workshop.makes["rewrite"] = lambda out: edit(out, f"{before}# a comment\n")
    workshop.bring_up("rewrite")
    workshop.change("rewrite", config={"level": 2})
    workshop.makes["rewrite"] = lambda out: edit(out, text)
    with pytest.raises(StageError, match="code of ascendflow was edited since this run"):
        workshop.bring_up("rewrite")

    assert workshop.judge("rewrite").record is None


def test_stage_that_makes_other_bytes_from_one_key_keeps_the_first(
    workshop: Workshop,
) -> None:
    stage = workshop.plan.stage("convert")
    workshop.bring_up("rewrite", "convert")
    record = workshop.judge("convert").record
    assert record is not None
    workshop.makes["convert"] = lambda out: make_outputs(stage, out, "made again")
    outcome = repeat(workshop.project, workshop.plan, stage, record)

    assert (outcome.how, outcome.key) == ("repeated", record["key"])
    assert outcome.differing == ("conversion.json", "model")
    assert workshop.path("convert/model/content").read_text() == "made by convert"
    assert workshop.judge("convert").is_up_to_date
    del workshop.makes["convert"]
    assert repeat(workshop.project, workshop.plan, stage, record).differing == ()


def test_record_with_a_lost_blob_is_made_anew(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    for _, path in workshop.project.store.blobs.files():
        workshop.repository.joinpath(path).unlink()
    workshop.path("rewrite/record.json").unlink()

    assert workshop.bring_up("rewrite").how == "executed"
    assert workshop.executed == ["rewrite", "rewrite"]


def test_stage_that_was_recorded_meanwhile_with_other_bytes_keeps_the_first(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = workshop.plan.stage("rewrite")
    workshop.bring_up("rewrite")
    monkeypatch.setattr(module, "_restore", lambda *_: None)
    workshop.makes["rewrite"] = lambda out: make_outputs(stage, out, "made again")
    outcome = workshop.bring_up("rewrite")

    assert (outcome.how, outcome.differing) == ("executed", ("rewritten",))
    assert workshop.path("rewrite/rewritten/content").read_text() == "made by rewrite"
    assert workshop.judge("rewrite").is_up_to_date


def test_build_folder_that_is_removed_meanwhile_is_no_bug(workshop: Workshop) -> None:
    workshop.makes["rewrite"] = lambda _out: rmtree(workshop.path(""))

    with pytest.raises(StageError, match=r"rewrite: build/toy/\.work/\S+ was removed"):
        workshop.bring_up("rewrite")

    del workshop.makes["rewrite"]
    assert workshop.bring_up("rewrite").how == "executed"


def test_file_that_is_missing_elsewhere_is_not_said_to_be_removed(
    workshop: Workshop,
) -> None:
    def lose(out: Path) -> None:
        (out / "rewritten").rename(out / "else")

    workshop.makes["rewrite"] = lose

    with pytest.raises(FileNotFoundError):
        workshop.bring_up("rewrite")
