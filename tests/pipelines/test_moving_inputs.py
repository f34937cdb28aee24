"""What is edited while a stage runs is in no record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checkouts import finished

if TYPE_CHECKING:
    from tests.checkouts import Checkout


def test_user_file_edited_while_a_stage_runs_means_that_nothing_is_recorded(
    checkout: Checkout,
) -> None:
    """PL04."""
    meeting = checkout.meet_in("samples")
    checkout.edit(
        "ascendflow/stages/samples.py",
        "from ascendflow.stages.standin import announce",
        "import sys; sys.path.insert(0, str(ctx.folder)); import strokes\n"
        "        from ascendflow.stages.standin import announce",
    )
    process = checkout.start("samples:toy")
    meeting.wait()
    checkout.edit("pipelines/toy/strokes.py", "return 3", "return 5")
    meeting.go()
    run = finished(process)
    is_recorded = checkout.path("build/toy/samples/record.json").exists()
    again = checkout.doit("samples:toy")

    assert run.code == 2
    assert "samples:toy: pipeline:strokes.py was edited while the stage ran" in run.text
    assert "hint: run the same command again" in run.text
    assert not run.has_traceback
    assert not is_recorded
    assert again.executed == ["samples"]
    content = checkout.path("build/toy/samples/samples/content.json").read_text()
    assert "5," in content


def test_input_edited_while_a_stage_runs_means_that_nothing_is_recorded(
    checkout: Checkout,
) -> None:
    """PL04."""
    meeting = checkout.meet_in("convert")
    process = checkout.start("convert:toy")
    meeting.wait()
    rewritten = checkout.path("build/toy/rewrite/rewritten/content.json")
    rewritten.write_text(rewritten.read_text() + " ")
    meeting.go()
    run = finished(process)
    is_recorded = checkout.path("build/toy/convert/record.json").exists()
    again = checkout.doit("convert:toy")

    assert run.code == 2
    assert "convert:toy: input rewritten changed while the stage ran" in run.text
    assert not run.has_traceback
    assert not is_recorded
    assert (again.restored, again.executed) == (["rewrite"], ["convert"])
