from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor.driver import Driver, look_at_driver
from tests.hosts import DRIVER, NPU_SMI

if TYPE_CHECKING:
    from tests.hosts import Host


def test_without_a_driver_nothing_is_run(host: Host) -> None:
    assert look_at_driver(host.machine()) == Driver()
    assert host.ran == []


def test_driver_devices_and_chips_are_found(host: Host) -> None:
    host.device()

    driver = look_at_driver(host.machine())

    assert (driver.root, driver.version) == (DRIVER, "24.1.1")
    assert driver.devices == 1  # davinci_manager is none
    assert driver.npu_smi == NPU_SMI
    assert [chip.name for chip in driver.listing.chips] == ["310P3"]
    assert driver.problem is None


def test_npu_smi_gets_the_drivers_libraries(host: Host) -> None:
    host.device()
    host.write("/etc/ascend_install.info", "Driver_Install_Path_Param=/data/Ascend\n")
    host.write("/data/Ascend/driver/version.info", "Version=23.0.3\n")

    driver = look_at_driver(host.machine())

    ((argv, environment),) = host.ran
    assert argv[1:] == ["info"]
    assert environment["LD_LIBRARY_PATH"].split(":")[0] == "/data/Ascend/driver/lib64"
    assert (driver.root, driver.version) == ("/data/Ascend/driver", "23.0.3")


def test_npu_smi_in_a_container_gets_the_libraries_of_the_usual_folder(host: Host) -> None:
    host.program(NPU_SMI)

    driver = look_at_driver(host.machine())

    ((_, environment),) = host.ran
    assert driver.root is None
    assert environment["LD_LIBRARY_PATH"].split(":")[1] == f"{DRIVER}/lib64/common"


@pytest.mark.parametrize("version", ["", "Version=", f"Version={'9' * 100}", "\xff\n"])
def test_a_version_file_that_says_nothing_gives_none(host: Host, version: str) -> None:
    host.write(f"{DRIVER}/version.info", version)

    assert look_at_driver(host.machine()).version is None
    assert look_at_driver(host.machine()).root == DRIVER


def test_npu_smi_that_hangs_or_lists_nothing_is_a_problem(host: Host) -> None:
    host.device()
    host.program(NPU_SMI, "", "did not end within 30 s")
    assert look_at_driver(host.machine()).problem == "did not end within 30 s"

    host.program(NPU_SMI, "\ndcmi module initialize failed. ret is -8005\n")
    assert look_at_driver(host.machine()).problem == (
        "lists no chip: dcmi module initialize failed. ret is -8005"
    )
