"""Real children, of a stage that is no stage: what comes back when they fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ascendflow import errors
from ascendflow.build import execute as module
from ascendflow.build.execute import execute
from ascendflow.build.publish import new_work_folder
from ascendflow.errors import AscendflowError, InternalError, ToolFailedError

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.build.execute import Execution
    from tests.workshops import Workshop

SAY = "import json, sys; open('result.json', 'w').write(sys.argv[1])"
FINE = '{"ok": true, "warnings": []}'


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the arguments of python that are run instead of a stage."""
    import sys

    arguments: list[str] = []
    monkeypatch.setattr(module, "child_argv", lambda _spec: [sys.executable, *arguments])
    return arguments


def run(workshop: Workshop) -> tuple[Path, Execution]:
    work = new_work_folder(workshop.project, workshop.plan, "convert")
    stage = workshop.plan.stage("convert")
    done = execute(workshop.project, workshop.plan, stage, work, heartbeat=lambda _: None)
    return work, done


def test_child_gets_a_spec_without_any_absolute_path(
    workshop: Workshop, child: list[str]
) -> None:
    child += ["-c", SAY, FINE]
    work, done = run(workshop)
    text = (work / "spec.json").read_text()
    spec = json.loads(text)

    assert done.result == json.loads(FINE)
    assert str(workshop.repository) not in text
    assert spec["inputs"] == {"rewritten": "../../rewrite/rewritten"}
    assert spec["outputs"] == {
        "conversion.json": "out/conversion.json",
        "model": "out/model",
    }
    assert (work / spec["folder"]).resolve() == workshop.folder.resolve()
    assert spec["modules"] == ["ascendflow.errors"]


@pytest.mark.parametrize("kind", ["StageError", "ToolNotFoundError", "AscendflowError"])
def test_error_of_a_stage_comes_back_as_what_it_was(
    workshop: Workshop, child: list[str], kind: str
) -> None:
    error = {"kind": kind, "message": "it is so", "hint": "do that"}
    child += ["-c", SAY, json.dumps({"ok": False, "error": error})]

    with pytest.raises(AscendflowError) as caught:
        run(workshop)

    assert type(caught.value) is getattr(errors, kind)
    assert (caught.value.message, caught.value.hint) == ("it is so", "do that")


@pytest.mark.parametrize(
    "kind", ["InternalError", "ValueError", "AscendflowErrorr", "ClassVar"]
)
def test_any_other_error_is_a_bug(workshop: Workshop, child: list[str], kind: str) -> None:
    error = {"kind": kind, "message": "it is so", "hint": None}
    child += ["-c", SAY, json.dumps({"ok": False, "error": error})]

    with pytest.raises(InternalError, match="convert: it is so"):
        run(workshop)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param("import sys; sys.exit(4)", "exited with status 4", id="exit"),
        pytest.param("pass", "exited with status 0 and said nothing", id="silent"),
        pytest.param(
            "import os; os.kill(os.getpid(), 11)", "was killed by SIGSEGV", id="crash"
        ),
        pytest.param(
            "open('result.json', 'w').write('{')",
            "exited with status 0",
            id="half-a-result",
        ),
    ],
)
def test_child_that_says_nothing_is_told_by_how_it_ended(
    workshop: Workshop, child: list[str], program: str, said: str
) -> None:
    child += ["-c", f"print('words', flush=True); {program}"]

    with pytest.raises(ToolFailedError, match="convert: its child process") as caught:
        run(workshop)

    assert said in caught.value.message


def test_result_of_a_child_that_then_crashed_does_not_count(
    workshop: Workshop, child: list[str]
) -> None:
    child += ["-c", f"{SAY}; sys.exit(3)", FINE]

    with pytest.raises(ToolFailedError, match="exited with status 3"):
        run(workshop)


def test_limit_is_told_with_both_values(workshop: Workshop, child: list[str]) -> None:
    child += ["-c", "import time; time.sleep(60)"]
    workshop.change("convert", timeout_s=0.3)

    with pytest.raises(
        ToolFailedError, match=r"ran for \d+\.\d s, limits\.timeout_s is 0\.3"
    ):
        run(workshop)
