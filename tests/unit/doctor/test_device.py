from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor import device
from tests.findings import told
from tests.hosts import DRIVER, LISTING, NPU_SMI

if TYPE_CHECKING:
    from tests.hosts import Host


def check(host: Host, **asked: str) -> list[str]:
    return told(device.check(host.facts(**asked)))


def test_a_healthy_device_has_no_findings(host: Host) -> None:
    host.device()

    assert check(host) == []
    assert check(host, soc="Ascend310P3") == []


def test_no_device_is_a_note_since_atc_needs_none(host: Host) -> None:
    assert check(host, soc="Ascend310P3") == [
        "note: no driver and no NPU here: atc builds an OM without, but none can be run"
    ]


def test_another_soc_than_asked_for_is_an_error(host: Host) -> None:
    """Case EV03: the manifest says SoC A, the device is B."""
    host.device()

    assert check(host, soc="Ascend910B4") == [
        "error: soc_version Ascend910B4 is asked for, the device here is Ascend310P3"
    ]


def test_a_chip_that_the_installed_cann_does_not_have_is_a_warning(whole: Host) -> None:
    """Case EV03: the device is of another generation than the toolkit."""
    whole.device(LISTING.replace("310P3", "310B1"))

    assert check(whole) == [
        "warning: NPU 0 is Ascend310B1, which CANN 8.1.RC1 does not have"
    ]


@pytest.mark.parametrize(
    ("gone", "found"),
    [
        (DRIVER, "warning: the driver's folder is not found"),
        (f"{DRIVER}/version.info", "warning: the driver's folder is not found"),
        ("/dev/davinci0", "warning: there is no /dev/davinci*"),
        (NPU_SMI, "warning: npu-smi is not found"),
    ],
)
def test_what_is_missing_of_a_device_is_a_warning(
    host: Host, gone: str, found: str
) -> None:
    host.device()
    path = host.root / gone[1:]
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    (told_of_it,) = check(host)

    assert told_of_it.startswith(found)


def test_npu_smi_alone_is_told_of_what_is_missing_beside_it(host: Host) -> None:
    host.program(NPU_SMI, LISTING)

    assert [found.split(",")[0] for found in check(host)] == [
        "warning: the driver's folder is not found",
        "warning: there is no /dev/davinci*",
    ]


def test_a_driver_without_version_is_a_note(host: Host) -> None:
    host.device()
    host.write(f"{DRIVER}/version.info", "nothing")

    assert check(host) == [f"note: {DRIVER}/version.info does not say the driver's version"]


def test_npu_smi_that_fails_is_a_warning(host: Host) -> None:
    host.device()
    host.program(NPU_SMI, "cannot open \x1b[2J device", "exited with status 1")

    assert check(host) == [
        f"warning: {NPU_SMI} info: exited with status 1: cannot open \x1b[2J device"
    ]


def test_a_chip_that_is_not_well_is_a_warning(host: Host) -> None:
    host.device(LISTING.replace("| OK      ", "| Alarm   "))

    assert check(host) == ["warning: NPU 0 chip 0 (310P3): health is Alarm"]


def test_a_name_that_is_no_soc_is_a_note_and_not_compared(host: Host) -> None:
    host.device(LISTING.replace("310P3    ", "Ascend910"))

    assert check(host, soc="Ascend310P3") == [
        "note: NPU 0 chip 0: the name 'Ascend910' does not say its soc_version"
    ]
