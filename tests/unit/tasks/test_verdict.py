from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.build.project import Project
from ascendflow.plan import Plan
from ascendflow.report.collect import collect
from ascendflow.tasks.failures import GateFailure, StageTaskError
from ascendflow.tasks.session import SESSION
from ascendflow.tasks.uptodate import META
from ascendflow.tasks.verdict import VerdictAction
from tests.reports import failed, passed
from tests.standin_documents import contrast
from tests.workshops import planned

if TYPE_CHECKING:
    from doit.exceptions import BaseFail

BUILD = Path("build/pan")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SESSION.__dict__, "project", Project(tmp_path))


def _write(documents: dict[str, Any], branch: str = "") -> None:
    report = collect(documents)
    for stage, document in (("gate", documents["verdict.json"]), ("report", report)):
        name = "verdict.json" if stage == "gate" else "report.json"
        (BUILD / f"{stage}{branch}").mkdir(parents=True)
        (BUILD / f"{stage}{branch}" / name).write_text(json.dumps(document))


def _execute(
    *names: str, something_ran: bool = False, verbosity: int = 1
) -> BaseFail | None:
    names = names or ("export", "golden", "gate", "report")
    stages = tuple(planned(name, {}, ()) for name in names)
    action = VerdictAction(Plan("pan", "pan", "pipelines/pan", {}, stages))
    task: Any = SimpleNamespace(
        name="pan", verbosity=verbosity, meta={META: {"something_ran": something_ran}}
    )
    action.task = task
    return action.execute()


def test_a_pass_in_which_nothing_ran_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write(passed())

    assert _execute() is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("pan: passed")


@pytest.mark.parametrize(
    "how", [{"something_ran": True}, {"verbosity": 2}], ids=["something-ran", "verbose"]
)
def test_the_table_is_shown_when_something_ran_or_is_asked_for(
    how: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    _write(passed())

    assert _execute(**how) is None
    assert "checks, onnx-target" in capsys.readouterr().out


def test_a_failure_exits_with_1_and_names_the_page() -> None:
    _write(failed())

    failure = _execute()

    assert isinstance(failure, GateFailure)
    assert failure.exit_code == 1
    message = failure.get_msg()
    assert "first divergent node: /up3/Resize" in message
    assert message.rstrip().endswith("hint: open build/pan/report/report.html")


@pytest.mark.parametrize("name", ["gate/verdict.json", "report/report.json"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "No such file", id="missing"),
        pytest.param(b"", "Expecting value", id="empty"),
        pytest.param(b'{"passed": tr', "Expecting value", id="cut-off"),
        pytest.param(b"\xff\xfe", "can't decode", id="not-text"),
        pytest.param(b"[]", "no document", id="a-list"),
        pytest.param(b'{"schema_version": 2}', "no document", id="newer"),
    ],
)
def test_a_document_that_cannot_be_read_exits_with_2_and_no_traceback(
    name: str, content: bytes | None, reason: str
) -> None:
    _write(failed())
    (BUILD / name).unlink()
    if content is not None:
        (BUILD / name).write_bytes(content)

    failure = _execute()

    assert isinstance(failure, StageTaskError)
    assert failure.exit_code == 2
    message = failure.get_msg()
    assert message.startswith(f"pan: cannot read build/pan/{name}: ")
    assert reason in message
    assert "Traceback" not in message


def test_a_verdict_that_does_not_say_true_has_not_passed() -> None:
    documents = passed()
    documents["verdict.json"]["passed"] = "yes"
    _write(documents)

    assert isinstance(_execute(), GateFailure)


def test_a_bug_exits_with_2_and_ends_no_other_task() -> None:
    documents = failed()
    _write(documents)
    (BUILD / "gate" / "verdict.json").write_text('{"schema_version": 1}')

    failure = _execute()

    assert isinstance(failure, StageTaskError)
    assert failure.exit_code == 2
    assert "a bug in ascendflow" in failure.get_msg()


def test_recorded_warnings_are_told_each_time_a_line_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(passed())
    reads: dict[str, Any] = {"files": {}, "folders": {}, "missing": [], "distributions": {}}
    for stage, warnings in (("export", ["a branch\n  was fixed"]), ("golden", ["w" * 999])):
        record: dict[str, Any] = dict.fromkeys(("stage", "key", "base"), "")
        record |= {key: {} for key in ("fingerprint", "outputs", "facts")}
        record |= {"schema_version": 1, "reads": reads, "warnings": warnings}
        (BUILD / stage).mkdir()
        (BUILD / stage / "record.json").write_text(json.dumps(record))

    assert _execute() is None
    told = capsys.readouterr().out
    assert _execute() is None
    again = capsys.readouterr().out
    others = ("export:other", "a branch\n  was fixed")
    monkeypatch.setattr(SESSION, "told_warnings", {("golden:pan", "w" * 999), others})
    assert _execute() is None
    less = capsys.readouterr().out.splitlines()
    one, two, verdict = told.splitlines()

    assert one == "warning: export: a branch was fixed"
    assert two.startswith("warning: golden: www")
    assert len(two) < 300
    assert verdict.startswith("pan: passed")
    assert again == told
    assert less == [one, "1 warning above, of golden", verdict]


BOTH = ("gate@emulator", "report@emulator", "gate@cann", "report@cann", "contrast")


def _write_both(emulator: dict[str, Any], cann: dict[str, Any]) -> None:
    _write(emulator, "@emulator")
    _write(cann, "@cann")
    (BUILD / "contrast").mkdir()
    document = contrast(emulator["verdict.json"]["passed"], cann["verdict.json"]["passed"])
    (BUILD / "contrast" / "contrast.json").write_text(json.dumps(document))


@pytest.mark.parametrize("failing", [0, 1])
def test_one_backend_that_fails_fails_the_model(
    failing: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_both(*([failed(), passed()] if failing == 0 else [passed(), failed()]))

    failure = _execute(*BOTH, something_ran=True)

    assert isinstance(failure, GateFailure)
    where = BOTH[2 * failing + 1]
    assert failure.get_msg().rstrip().endswith(f"hint: open build/pan/{where}/report.html")
    said = capsys.readouterr().out
    assert said.count("pan: passed") == 1
    assert "the prediction did NOT hold" in said
    assert "disagree: build/pan/contrast/contrast.html" in said


def test_both_that_fail_are_both_told() -> None:
    _write_both(failed(), failed())

    failure = _execute(*BOTH)

    assert failure is not None
    assert failure.get_msg().count("pan: FAILED") == 2
    for stage in ("report@emulator", "report@cann"):
        assert f"build/pan/{stage}/report.html" in failure.get_msg()


@pytest.mark.parametrize("stage", ["gate@emulator", "gate@cann"])
def test_backend_without_a_verdict_never_passes(stage: str) -> None:
    _write_both(passed(), passed())
    (BUILD / stage / "verdict.json").unlink()

    failure = _execute(*BOTH)

    assert isinstance(failure, StageTaskError)
    assert f"cannot read build/pan/{stage}/verdict.json" in failure.get_msg()


def test_both_that_pass_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    _write_both(passed(), passed())

    assert _execute(*BOTH) is None
    assert capsys.readouterr().out.count("pan: passed") == 2
