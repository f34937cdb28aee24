"""What fails, how it is told, and which exit code it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, PASSED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

MANIFEST = "pipelines/toy/manifest.yaml"
MODES = {
    "serial": [],
    "continue": ["--continue"],
    "threads": ["-n", "2"],
    "processes": ["-n", "2", "-P", "process"],
}


def test_failed_stage_shows_its_last_lines_and_is_not_cached(checkout: Checkout) -> None:
    """PL09, PL13."""
    checkout.edit(
        "pipelines/toy/metric.py",
        "    return 0.8",
        "    [print('line', i) for i in range(30)]\n    raise ValueError('no such class')",
    )
    failed = checkout.doit("model=toy")
    again = checkout.doit("model=toy")
    log = checkout.path("build/toy/evaluate/log.txt").read_text()
    is_verdict_there = checkout.path("build/toy/gate/verdict.json").exists()
    is_report_there = checkout.path("build/toy/report").exists()
    checkout.edit(
        "pipelines/toy/metric.py", "raise ValueError('no such class')", "return 1"
    )
    mended = checkout.doit("model=toy")

    assert failed.code == again.code == 2
    assert "pipelines/toy/metric.py:3: ValueError: no such class" in failed.text
    assert "its log is build/toy/evaluate/log.txt" in failed.text
    assert not failed.has_traceback
    assert "line 0\n" in log
    assert "Traceback" in log
    assert not is_verdict_there
    assert not is_report_there
    assert again.executed == []
    assert ".  evaluate:toy" in again.text
    assert mended.executed == ["evaluate", "gate", "report"]


def test_crashed_stage_shows_the_end_of_its_log(checkout: Checkout) -> None:
    checkout.inject(
        "convert", "for i in range(50): print('line', i)", "import os", "os._exit(9)"
    )
    run = checkout.doit()

    assert run.code == 2
    assert "convert:toy: its child process exited with status 9" in run.text
    assert "\n    line 49\n" in run.text
    assert "\n    line 30\n" in run.text
    assert "\n    line 29\n" not in run.text
    assert "its log is build/toy/convert/log.txt" in run.text
    assert "line 29\n" in checkout.path("build/toy/convert/log.txt").read_text()


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("raise OSError(28, 'No space left on device')", id="raises"),
        pytest.param("import os; os._exit(0)", id="claims-success"),
        pytest.param("import ctypes; ctypes.string_at(0)", id="crashes"),
    ],
)
def test_half_written_artifact_is_never_seen_not_even_by_the_next_stage_alone(
    checkout: Checkout, how: str
) -> None:
    """PL09."""
    checkout.inject(
        "convert",
        "ctx.outputs['model'].mkdir()",
        "(ctx.outputs['model'] / 'content.json').write_text('half')",
        how,
    )
    whole, alone = checkout.doit("model=toy"), checkout.doit("infer:toy")

    for run in (whole, alone):
        assert run.code == 2
        assert "infer" not in run.stages("executed")
        assert ".  convert:toy" in run.text
    assert not checkout.path("build/toy/convert/model").exists()
    assert not checkout.path("build/toy/convert/record.json").exists()


def test_simplifier_that_crashes_is_told_by_its_signal_and_can_be_left_out(
    checkout: Checkout,
) -> None:
    """GR08."""
    checkout.inject(
        "simplify",
        "import ctypes",
        "ctx.config['enabled'] and ctypes.string_at(0)",
    )
    crashed = checkout.doit("model=toy")
    checkout.edit(MANIFEST, "gate:", "simplify: {enabled: false}\ngate:")
    without = checkout.doit("model=toy")

    assert crashed.code == 2
    assert "simplify:toy: its child process was killed by SIGSEGV" in crashed.text
    assert "hint: set simplify.enabled: false to do without onnxsim" in crashed.text
    assert "its log is build/toy/simplify/log.txt" in crashed.text
    assert not crashed.has_traceback
    assert without.code == 0


@pytest.mark.parametrize("returned", ["0.97", "False", "'words'", "{'cosine': 0.97}"])
def test_what_a_stage_returns_is_no_failure(checkout: Checkout, returned: str) -> None:
    """PL13."""
    checkout.edit(
        "ascendflow/stages/compare.py",
        "play(self, ctx)",
        f"play(self, ctx)\n        return {returned}",
    )
    run = checkout.doit("model=toy")

    assert (run.code, run.executed[0]) == (0, "compare")


def test_stage_that_makes_half_of_its_outputs_fails(checkout: Checkout) -> None:
    """PL13: what counts is what was made, not what was returned."""
    checkout.inject("convert", "ctx.outputs['model'].mkdir()", "return True")
    run = checkout.doit()

    assert run.code == 2
    assert "convert:toy: ended without making the file 'conversion.json'" in run.text
    assert not checkout.path("build/toy/convert/model").exists()


def test_stage_that_imports_what_its_digest_lacks_is_not_recorded(
    checkout: Checkout,
) -> None:
    checkout.inject(
        "convert", "import importlib", "importlib.import_module('ascendflow.stages.gate')"
    )
    run = checkout.doit()

    assert run.code == 2
    assert "convert: imported ascendflow.stages.gate, not in the" in run.text
    assert not checkout.path("build/toy/convert/record.json").exists()


def test_hanging_stage_is_ended_with_both_values_told(
    checkout: Checkout, tmp_path: Path
) -> None:
    hangs = str(tmp_path / "hangs")
    announce = ("print('at 99 %')", f"open({hangs!r}, 'w').close()")
    checkout.inject("convert", "import time", *announce, "time.sleep(600)")
    # Its time begins to pass once it hangs, however long it took to get there.
    elapsed = f"elapsed_s = child.elapsed_s() if os.path.exists({hangs!r}) else 0"
    checkout.edit("ascendflow/process.py", "elapsed_s = child.elapsed_s()", elapsed)
    checkout.edit(MANIFEST, "gate:", "limits: {timeout_s: 1.5}\ngate:")
    run = checkout.doit()

    assert run.code == 2
    assert "convert:toy: its child process ran for " in run.text
    assert "limits.timeout_s is 1.5" in run.text
    assert "its log is build/toy/convert/log.txt; it ends:\n    at 99 %\n" in run.text


@pytest.fixture(scope="module")
def mixed(fresh_template: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Models: `toy` passes, `low` fails its gate, `sad` cannot take samples."""
    mixed = fresh_template.copied_to(tmp_path_factory.mktemp("mixed") / "repository")
    for model in ("low", "sad"):
        mixed.add_model(model)
    mixed.edit("pipelines/low/manifest.yaml", "min: 0.9}", "min: 0.99}")
    mixed.edit("pipelines/sad/manifest.yaml", "count: 2", "count: none")
    mixed.edit("pipelines/sad/data.py", "folder =", "assert count != 'none'\n    folder =")
    mixed.doit("--continue")
    return mixed


@pytest.mark.parametrize("options", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize(
    ("models", "code"),
    [
        pytest.param("toy", 0, id="pass"),
        pytest.param("low", 1, id="gate"),
        pytest.param("low,toy", 1, id="gate-and-pass"),
        pytest.param("sad", 2, id="stage"),
        pytest.param("l*,sad,toy", 2, id="all-three"),
    ],
)
def test_exit_code_is_that_of_the_worst(
    mixed: Checkout, models: str, code: int, options: list[str]
) -> None:
    """PL11: both ways of running at once."""
    if models == "l*,sad,toy" and "--continue" not in options:
        # Else the first failure ends the run, and which that is is a matter of luck.
        options = [*options, "--continue"]
    run = mixed.doit(*options, f"model={models}")

    assert run.code == code
    assert not run.has_traceback
    if code == 1:
        assert "gate: 'mask': cosine_similarity is 0.95, must be >= 0.99" in run.text


def test_failed_gate_leaves_a_report_and_stops_nothing_else(mixed: Checkout) -> None:
    run = mixed.doit("--continue")

    assert f"{PASSED}\n" in run.text
    assert "low: FAILED (1 of 1 check" in run.text
    # Export takes no samples, so it ran.
    assert f"   sad: {len(ALL) - 2} stages not run, samples:sad failed\n" in run.text
    assert "\nERROR: samples:sad: " in run.text
    assert run.text.endswith("1 passed (toy), 1 failed (low), 1 not finished (sad)\n")
    assert "hint: open build/low/report/report.html" in run.text
    assert mixed.path("build/low/report/report.html").exists()
    assert mixed.path("build/low/gate/verdict.json").exists()


@pytest.mark.parametrize("options", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("what", ["gate", "report"])
def test_gate_that_is_asked_for_decides_the_exit_code(
    mixed: Checkout, what: str, options: list[str]
) -> None:
    """Though what enforces the verdict is not asked for; up to date or not."""
    passed = mixed.doit(*options, f"{what}:toy")
    failed = mixed.doit(*options, f"{what}:low")
    built = mixed.doit(*options, "compare:low", "convert:toy")
    anew = mixed.doit("-a", *options, f"{what}:low")
    worst = mixed.doit("--continue", *options, what)

    assert (passed.code, passed.text.splitlines()[-1]) == (0, PASSED)
    assert failed.code == anew.code == 1
    for run in (failed, anew):
        assert "low: FAILED (1 of 1 check failed; " in run.text
        assert "gate: 'mask': cosine_similarity is 0.95, must be >= 0.99" in run.text
    assert ("open build/low/report/report.html" in failed.text) == (what == "report")
    assert (built.code, "FAILED" in built.text, "passed" in built.text) == (0, False, False)
    assert worst.code == 2
    assert worst.text.count("low: FAILED") == worst.text.count(PASSED) == 1
    assert worst.text.endswith("1 passed (toy), 1 failed (low), 1 not finished (sad)\n")


def test_gate_before_which_a_stage_failed_tells_no_verdict_of_an_earlier_run(
    mixed: Checkout, tmp_path: Path
) -> None:
    checkout = mixed.copied_to(tmp_path / "repository")
    checkout.edit("pipelines/toy/metric.py", "return 0.8", "raise ValueError('no')")
    run = checkout.doit("--continue", "gate:toy")

    assert run.code == 2
    assert "toy: passed" not in run.text
    assert "evaluate:toy: " in run.text


def test_task_without_what_comes_before_it_is_refused(mixed: Checkout) -> None:
    run = mixed.doit("--single", "low")

    assert run.code == 3
    assert "low: FAILED" not in run.text
    assert run.text.startswith("ERROR: --single runs a task without what comes before")


def test_failure_of_one_model_keeps_another_up_to_date(mixed: Checkout) -> None:
    run = mixed.doit("--continue", "model=toy,sad")

    assert {f"-- {stage}:toy" for stage in ALL} <= set(run.text.splitlines())
    assert mixed.doit("model=toy").restored == []
