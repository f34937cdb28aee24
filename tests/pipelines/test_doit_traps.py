"""What is known to go wrong around doit 0.37 does not go wrong here.

Tried elsewhere: an edit that keeps size and mtime (`test_edits`); an edited output
(`test_damage`); kill -9 and SIGTERM in a run (`test_faults`); two runs at once
(`test_two_runs`); an unknown variable, a broken manifest beside `list`, an empty argument
(`test_refusals`); a listing where nothing was built (`test_commands`); exit codes of a
failed gate in every mode (`test_failures`); a touched file is hashed once more and then
known (`tests/unit/cache/test_index.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, finished

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

PROCESSES = ["-n", "2", "-P", "process"]


def test_number_of_numpy_that_a_stage_notes_costs_that_stage_alone(
    checkout: Checkout,
) -> None:
    """The database of doit is lost with a value that JSON has no word for."""
    checkout.inject("gate", "import numpy", "ctx.findings.facts['x'] = numpy.float32(1)")
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    failed, again = checkout.doit(), checkout.doit()

    assert failed.code == again.code == 2
    assert "gate: TypeError: Object of type float32 is not JSON serializable" in failed.text
    assert not failed.has_traceback
    assert (failed.executed, again.executed) == (["evaluate"], [])


def test_dodo_that_is_imported_outside_of_doit_gives_its_tasks(checkout: Checkout) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import dodo; print(len(list(dodo.task_pipelines())))"],
        cwd=checkout.folder,
        env={"PYTHONPATH": str(checkout.folder)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == 2 * len(ALL) + 1


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_may_be_started_in_any_way(checkout: Checkout, method: str) -> None:
    """A closure in a task cannot be sent to a worker that was not forked."""
    dodo = checkout.path("dodo.py")
    start = f"multiprocessing.set_start_method({method!r}, force=True)"
    dodo.write_text(f"import multiprocessing\n{start}\n{dodo.read_text()}")
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    run = checkout.doit(*PROCESSES)

    assert (run.code, run.executed) == (0, ["evaluate", "gate", "report"])


def test_exception_that_cannot_be_sent_ends_the_run(checkout: Checkout) -> None:
    """A worker that could not send its result would be waited for, for ever."""
    raises = "import threading; raise ValueError(threading.Lock(), 'no class')"
    checkout.edit("pipelines/toy/metric.py", "return 0.8", raises)
    run = checkout.doit(*PROCESSES)

    assert run.code == 2
    assert "metric.py:2: ValueError: (<unlocked _thread.lock" in run.text
    assert not run.has_traceback


def test_json_of_a_run_of_several_threads_is_json(checkout: Checkout) -> None:
    """Threads of doit swap standard output under each other."""
    checkout.add_model("twin")
    process = checkout.start("-r", "json", "-n", "4", stderr=subprocess.PIPE)
    output, _ = process.communicate(timeout=300)
    results = {task["name"]: task["result"] for task in json.loads(output)["tasks"]}

    assert process.returncode == 0
    assert results["check:toy"] == "up-to-date"
    assert results["gate:twin"] == results["toy"] == results["twin"] == "success"


def test_failed_gate_keeps_what_came_before_it(checkout: Checkout) -> None:
    """Else doit erases the record of a task that fails."""
    checkout.edit("pipelines/toy/manifest.yaml", "min: 0.9}", "min: 0.99}")
    failed, again = checkout.doit(), checkout.doit()

    assert failed.code == again.code == 1
    assert failed.executed == ["gate", "report"]
    assert (again.executed, again.restored) == ([], [])


def test_failed_stage_keeps_what_comes_after_it_restorable(checkout: Checkout) -> None:
    """Else doit erases, with `--continue`, the records of all that depends on it."""
    before = checkout.outputs()
    checkout.edit("pipelines/toy/metric.py", "return 0.8", "raise ValueError")
    failed = checkout.doit("--continue")
    checkout.edit("pipelines/toy/metric.py", "raise ValueError", "return 0.8")
    mended = checkout.doit()

    assert (failed.code, failed.executed) == (2, [])
    assert (mended.code, mended.executed) == (0, [])
    assert mended.restored == ["evaluate", "gate", "report"]
    assert checkout.outputs() == before


def test_path_may_hold_what_doit_takes_for_a_variable(
    checkout: Checkout, tmp_path: Path
) -> None:
    odd = checkout.copied_to(tmp_path / "model=pan x%s" / "repository")
    unmoved = odd.doit()
    odd.path("pipelines/toy/pictures/a=b.txt").write_text("a picture")
    run = odd.doit("samples:toy")

    assert (unmoved.code, unmoved.executed, unmoved.restored) == (0, [], [])
    assert (run.code, run.executed) == (0, ["samples"])
    assert "a=b.txt" in odd.path("build/toy/samples/samples/content.json").read_text()


def test_listing_with_dependencies_needs_nothing_built(fresh: Checkout) -> None:
    """A task whose creator waits for another one cannot be listed before that ran."""
    listed = finished(fresh.start("list", "--all", "--deps"))

    assert listed.code == 0
    assert {f"{stage}:toy" for stage in ALL} <= set(listed.text.split())
