"""A run of several workers that is ended leaves no more than a serial one.

What every fault does to a serial run at every stage is in `test_faults.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults import FAULTS, assert_ended_well

if TYPE_CHECKING:
    from tests.checkouts import Checkout

MODES = {"threads": ["-n", "2"], "processes": ["-n", "2", "-P", "process"]}


@pytest.mark.parametrize("options", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("name", ["kill-9", "ctrl-c", "sigterm"])
def test_run_of_several_workers_leaves_nothing_and_the_next_resumes(
    checkout: Checkout, options: list[str], name: str
) -> None:
    """PL09."""
    checkout.edit("pipelines/toy/manifest.yaml", "Ascend310P3", "Ascend310P1")
    fault = next(fault for fault in FAULTS if fault.name == name)
    run = fault.strike(checkout, "convert", *options)
    assert_ended_well(checkout, "convert", run, fault)
    again = checkout.doit("convert:toy")

    assert run.text.count("what was built is kept") == (name != "kill-9")
    assert (again.code, again.executed) == (0, ["convert"])
    assert "waiting for" not in again.text
