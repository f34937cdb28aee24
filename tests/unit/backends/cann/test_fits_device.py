"""Which version runs what: CANN's documents of compatibility."""

from __future__ import annotations

import pytest

from ascendflow.backends.cann.fits_device import hold_to_device
from ascendflow.backends.cann.signature import DYNAMIC, STATIC, Signature
from ascendflow.errors import StageError


def built(shapes: str = STATIC, cann: str = "8.1.RC1") -> Signature:
    return {
        "schema_version": 1,
        "soc_version": "Ascend310P3",
        "cann": cann,
        "opp": "7.7.0.1.238",
        "shapes": shapes,
        "input_shape": {},
        "gears": [],
        "inputs": [],
        "outputs": [],
    }


@pytest.mark.parametrize("runs", ["8.1.RC1", "8.1", "8.2.RC1", "8.5.0", "9.0.0", "10.0"])
def test_om_runs_on_its_own_cann_and_later_ones(runs: str) -> None:
    hold_to_device(built(), runs, None, "x86_64", "model.om")


@pytest.mark.parametrize("runs", ["8.0.RC3", "7.0.0", "6.0.RC1", "", "new", "8"])
def test_older_cann_or_none_that_is_known_is_refused(runs: str) -> None:
    with pytest.raises(StageError, match=r"built by CANN 8\.1\.RC1, and"):
        hold_to_device(built(), runs, None, "x86_64", "model.om")


def test_patch_of_a_release_counts() -> None:
    with pytest.raises(StageError, match=r"8\.5\.1, and 8\.5\.0 is to run"):
        hold_to_device(built(cann="8.5.1"), "8.5.0", None, "x86_64", "model.om")


def test_dynamic_shape_wants_the_same_operators_and_machine() -> None:
    said = built(DYNAMIC)
    om = "model_linux_aarch64.om"
    hold_to_device(said, "8.1.RC1", "7.7.0.1.238", "aarch64", om)
    for opp in ("7.7.0.1.239", None):
        with pytest.raises(StageError, match=f"238; where it is to run there is {opp}"):
            hold_to_device(said, "8.1.RC1", opp, "aarch64", om)
    with pytest.raises(StageError, match="for aarch64, and the device's machine is x86_64"):
        hold_to_device(said, "8.1.RC1", "7.7.0.1.238", "x86_64", om)
