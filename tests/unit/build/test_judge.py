from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.fingerprint import key_of
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workshops import Workshop


def test_stage_that_never_ran_says_so(workshop: Workshop) -> None:
    assert workshop.reasons("rewrite") == ["never built"]
    assert workshop.judge("rewrite").record is None


def test_missing_input_is_a_reason_and_no_error(workshop: Workshop) -> None:
    assert workshop.reasons("convert") == ["input rewritten is missing"]


def test_stage_just_built_is_up_to_date(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert")
    judgement = workshop.judge("convert")

    assert judgement.is_up_to_date
    assert judgement.record is not None
    assert judgement.record["stage"] == "convert"


def test_every_difference_is_a_reason(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert")
    workshop.change("convert", config={"level": 2}, environment={"A": "b"}, threads=4)
    workshop.path("rewrite/rewritten/content").write_text("other")
    workshop.path("convert/conversion.json").unlink()
    workshop.path("convert/model/content").write_text("other")
    reasons = " | ".join(workshop.reasons("convert"))

    for words in (
        "config.level changed: 1 -> 2",
        "environment variable A is new: 'b'",
        "environment variable OMP_NUM_THREADS changed: '1' -> '4'",
        "input rewritten changed: ",
        "output conversion.json is missing",
        "output model was modified after it was built",
    ):
        assert words in reasons


def test_tool_of_another_version_is_a_reason(workshop: Workshop) -> None:
    """PL15."""
    workshop.bring_up("rewrite")
    workshop.change("rewrite", tools=("doit", "numpy"))

    (reason,) = workshop.reasons("rewrite")
    assert reason.startswith("tool numpy is new: ")


def test_file_that_a_stage_read_is_looked_at_again(workshop: Workshop) -> None:
    (workshop.folder / "data.py").write_text("1")
    (workshop.folder / "pictures").mkdir()
    workshop.reads = {
        "files": ["pipeline:data.py"],
        "folders": ["pipeline:pictures"],
        "missing": ["pipeline:more.py"],
    }
    # As long before the stage as the file system's clock can tell.
    for path in (workshop.folder / "data.py", workshop.folder / "pictures"):
        while os.stat(path).st_ctime_ns >= _now(workshop):
            pass
    workshop.bring_up("rewrite")
    before = workshop.reasons("rewrite")
    (workshop.folder / "data.py").write_text("2")
    (workshop.folder / "pictures" / "one").touch()
    (workshop.folder / "more.py").touch()

    assert before == []
    assert [
        reason.partition(" changed: ")[0] for reason in workshop.reasons("rewrite")
    ] == [
        "pipeline:data.py, which it read,",
        "the names in folder pipeline:pictures changed",
        "pipeline:more.py, which it looked for in vain, is there now",
    ]


def test_record_of_other_reads_is_none(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    path = workshop.path("rewrite/record.json")
    record = json.loads(path.read_text())
    record["reads"]["distributions"] = {"doit": "0.1"}
    path.write_text(json.dumps(record))

    (reason,) = workshop.reasons("rewrite")
    assert reason == (
        "its record cannot be read: key is not the digest of its base and reads"
    )
    record["key"] = key_of(record["base"], record["reads"])
    path.write_text(json.dumps(record))
    assert workshop.reasons("rewrite")[0].startswith("distribution doit changed: 0.1 -> ")


def test_record_of_another_stage_does_not_serve(workshop: Workshop) -> None:
    workshop.bring_up("rewrite", "convert")
    shutil.copyfile(
        workshop.path("rewrite/record.json"), workshop.path("convert/record.json")
    )

    assert "stage changed: 'rewrite' -> 'convert'" in workshop.reasons("convert")


def _now(workshop: Workshop) -> int:
    probe = workshop.repository / "probe"
    probe.write_text("")
    return os.stat(probe).st_ctime_ns


def test_modules_that_the_slice_brings_in_are_no_change_of_code(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ascendflow.plan.CHOOSES_RULES", "ascendflow.terminal")
    workshop.bring_up("rewrite")
    always = workshop.plan.stage("rewrite").modules
    workshop.change("rewrite", config={"auto": {"cann": "8.1"}})
    workshop.change(
        "rewrite", modules=(*always, "ascendflow.terminal", "ascendflow.vocabulary")
    )

    assert any(r.startswith("code of ascendflow") for r in workshop.reasons("rewrite"))

    workshop.change("rewrite", modules=(*always, "ascendflow.terminal"))
    assert not any(r.startswith("code of") for r in workshop.reasons("rewrite"))
    assert "config.auto is new: {'cann': '8.1'}" in workshop.reasons("rewrite")


def test_a_stage_whose_last_run_failed_says_so_and_where_its_log_is(
    workshop: Workshop,
) -> None:
    def fail(_out: Path) -> None:
        raise StageError("no")

    workshop.bring_up("rewrite")
    workshop.makes["rewrite"] = fail
    workshop.change("rewrite", config={"level": 2})
    with pytest.raises(StageError):
        workshop.bring_up("rewrite")

    log = "build/toy/rewrite/log.txt"
    assert workshop.reasons("rewrite") == [f"its last run failed; its log is {log}"]

    workshop.path("rewrite/log.txt").unlink()
    assert workshop.reasons("rewrite") == ["its last run failed"]


def test_a_record_that_somebody_removed_is_no_failure(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    workshop.path("rewrite/record.json").unlink()

    assert workshop.reasons("rewrite") == ["never built"]
