"""Whatever strikes a run, at whatever stage: a clear end, nothing lost, nothing left.

Each fault walks down the stages in one checkout: where it has struck one, the next run has
only that one to make before it is struck itself.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from tests.disks import small_disk
from tests.faults import FAULTS, STAGES, Fault, assert_ended_well

if TYPE_CHECKING:
    from tests.checkouts import Checkout
    from tests.pipelines.conftest import FirstRun


def walk(checkout: Checkout, fault: Fault) -> None:
    """Let a fault strike stage after stage, then let the last of them be built."""
    made: list[str] = []
    for stage in fault.stages:
        run = fault.strike(checkout, stage)
        assert_ended_well(checkout, stage, run, fault)
        upto = list(STAGES[: STAGES.index(stage)])
        if not fault.limits:
            assert run.executed == upto[len(made) :], f"{fault.name} in {stage}: {run.text}"
        made = upto
    run = checkout.doit(f"{stage}:toy")

    assert (run.code, run.executed) == (0, [stage]), run.text
    assert "waiting for" not in run.text
    assert os.listdir(checkout.path("build/toy/.work")) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_costs_the_stage_that_it_struck_and_nothing_else(
    fresh: Checkout, first_run: FirstRun, fault: Fault
) -> None:
    """PL09: and what is built at the end is what an undisturbed run builds."""
    with small_disk(fresh.path(fault.disk)) if fault.disk else nullcontext():
        walk(fresh, fault)

    undisturbed = first_run.checkout.outputs()
    built = fresh.outputs()
    assert {path.partition("/")[0] for path in built} >= set(fault.stages)
    assert built == {path: undisturbed[path] for path in built}
