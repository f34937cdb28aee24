from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.build import recording
from ascendflow.cache.reads import digest_reads
from ascendflow.errors import AscendflowError, InternalError, StageError
from tests.workshops import Workshop, make_outputs

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.record import Reads


def test_read_that_was_edited_after_the_start_is_refused(workshop: Workshop) -> None:
    """PL04."""
    workshop.reads = {"files": ["pipeline:data.py"], "folders": [], "missing": []}

    def edit(out: Path) -> None:
        make_outputs(workshop.plan.stage("rewrite"), out)
        spec = out.parent / "spec.json"
        data = workshop.folder / "data.py"
        data.write_text("new")
        while data.stat().st_ctime_ns <= spec.stat().st_ctime_ns:
            data.write_text("new")

    workshop.makes["rewrite"] = edit
    with pytest.raises(StageError, match=r"pipeline:data\.py was edited while the stage"):
        workshop.bring_up("rewrite")

    assert workshop.judge("rewrite").record is None


def test_read_that_is_edited_once_it_is_digested_is_refused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = workshop.folder / "data.py"
    data.write_text("old")
    workshop.reads = {"files": ["pipeline:data.py"], "folders": [], "missing": []}

    def digest_and_edit(*arguments: Any) -> Reads:
        reads = digest_reads(*arguments)
        time.sleep(0.05)  # two ticks of the file system's clock
        data.write_text("new")
        return reads

    monkeypatch.setattr(recording, "digest_reads", digest_and_edit)
    with pytest.raises(StageError, match=r"pipeline:data\.py was edited while the stage"):
        workshop.bring_up("rewrite")


@pytest.mark.parametrize("link", ["now", "now/a"], ids=["folder", "file"])
def test_read_through_a_link_that_was_turned_elsewhere_is_refused(
    workshop: Workshop, link: str
) -> None:
    for name in ("first/a", "second/a", "now/b"):
        (workshop.folder / name).parent.mkdir(exist_ok=True)
        (workshop.folder / name).write_text(name)
    turned = workshop.folder / link
    if turned.is_dir():
        shutil.rmtree(turned)
    turned.symlink_to(workshop.folder / link.replace("now", "first"))
    workshop.reads = {"files": ["pipeline:now/a"], "folders": [], "missing": []}

    def turn(out: Path) -> None:
        make_outputs(workshop.plan.stage("rewrite"), out)
        time.sleep(0.05)
        turned.unlink()
        turned.symlink_to(workshop.folder / link.replace("now", "second"))

    workshop.makes["rewrite"] = turn
    with pytest.raises(StageError, match="pipeline:now/a was edited while the stage"):
        workshop.bring_up("rewrite")


def test_read_that_is_gone_is_refused(workshop: Workshop) -> None:
    workshop.reads = {"files": [], "folders": ["pipeline:pictures"], "missing": []}

    with pytest.raises(AscendflowError, match=r"pipeline:pictures was read and is gone"):
        workshop.bring_up("rewrite")


def test_kept_file_has_the_digest_of_the_input_it_equals(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    workshop.kept = {"model/weights": {"role": "rewritten", "path": "content"}}
    workshop.bring_up("convert")
    record = workshop.judge("convert").record

    assert record is not None
    weights = record["outputs"]["model"]["files"]["weights"]
    source = workshop.judge("rewrite").record
    assert source is not None
    assert weights == source["outputs"]["rewritten"]["files"]["content"]
    assert workshop.path("convert/model/weights").read_text() == "made by rewrite"
    assert workshop.judge("convert").is_up_to_date


def test_kept_file_is_in_the_store_though_that_was_emptied(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")
    shutil.rmtree(workshop.project.store.root)
    workshop.kept = {"model/weights": {"role": "rewritten", "path": "content"}}
    workshop.bring_up("convert")

    assert workshop.path("convert/model/weights").read_text() == "made by rewrite"


@pytest.mark.parametrize(
    "kept",
    [
        {"model/weights": {"role": "rewritten", "path": "nothing"}},
        {"modell/weights": {"role": "rewritten", "path": "content"}},
    ],
    ids=["no-such-input", "no-such-output"],
)
def test_kept_file_that_cannot_be_is_a_bug(
    workshop: Workshop, kept: dict[str, dict[str, str]]
) -> None:
    workshop.bring_up("rewrite")
    workshop.kept = kept

    with pytest.raises(InternalError, match="is in no input"):
        workshop.bring_up("convert")


def test_record_says_nothing_of_where_when_and_who(workshop: Workshop) -> None:
    import getpass
    import json
    import socket

    (workshop.folder / "data.py").write_text("1")
    workshop.bring_up("rewrite", "convert")
    text = workshop.path("convert/record.json").read_text()

    for private in (str(workshop.repository), socket.gethostname(), getpass.getuser()):
        assert f"{private}/" not in text
        assert f'"{private}"' not in text
    assert sorted(json.loads(text)) == [
        *("base", "facts", "fingerprint", "key", "outputs", "reads", "schema_version"),
        *("stage", "warnings"),
    ]
