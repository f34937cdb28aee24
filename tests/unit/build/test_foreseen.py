from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from tests.workshops import STAGES, planned

if TYPE_CHECKING:
    from tests.workshops import Workshop


@pytest.fixture
def exported(workshop: Workshop) -> Workshop:
    """Return a workshop whose model was exported, with outputs `mask` and `edge`."""
    export = planned("export", {}, ("exported",))
    workshop.plan = workshop.plan._replace(stages=(export, *STAGES))
    workshop.bring_up("export", "rewrite")
    path = workshop.path("export/record.json")
    record = json.loads(path.read_text())
    path.chmod(0o644)
    path.write_text(json.dumps({**record, "facts": {"outputs": ["mask", "edge"]}}))
    workshop.executed.clear()
    return workshop


def test_names_that_are_no_outputs_stop_the_first_stage_that_runs(
    exported: Workshop,
) -> None:
    exported.change("gate", config={"outputs": {"*": {}, "msk": {}, "mask": {}, "edg": {}}})

    with pytest.raises(StageError) as refused:
        exported.bring_up("convert")

    assert refused.value.message.splitlines() == [
        "gate: 'msk' is no output of the model",
        "gate: 'edg' is no output of the model",
    ]
    assert exported.executed == []
    log = exported.path("convert/log.txt")
    where = log.relative_to(exported.project.repository)
    assert exported.reasons("convert") == [f"its last run failed; its log is {where}"]
    assert log.read_text() == f"{refused.value}\n"


def test_a_gate_that_was_refused_says_so_and_not_that_it_was_never_built(
    exported: Workshop,
) -> None:
    exported.bring_up("convert", "gate")
    exported.change("gate", config={"outputs": {"msk": {}}})
    with pytest.raises(StageError):
        exported.bring_up("gate")

    log = "build/toy/gate/log.txt"
    assert exported.reasons("gate") == [f"its last run failed; its log is {log}"]

    exported.change("gate", config={"outputs": {"mask": {}}})
    exported.bring_up("gate")
    assert exported.reasons("gate") == []


@pytest.mark.parametrize("outputs", [None, {}, {"*": {}, "edge": {}}])
def test_names_of_outputs_stop_nothing(
    exported: Workshop, outputs: dict[str, dict[str, float]] | None
) -> None:
    exported.change("gate", config={"outputs": outputs})
    exported.bring_up("convert", "gate")

    assert exported.executed == ["convert", "gate"]


def test_until_the_export_is_there_nothing_is_known(exported: Workshop) -> None:
    exported.change("gate", config={"outputs": {"msk": {}}})
    exported.bring_up("export")  # which records no outputs here
    exported.bring_up("convert")

    assert exported.executed[-1] == "convert"
