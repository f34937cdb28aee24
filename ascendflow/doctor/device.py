"""Judges the driver and the chips, without which an OM is built but not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.doctor.finding import Findings
from ascendflow.doctor.npu_smi import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.doctor.driver import Driver
    from ascendflow.doctor.facts import Facts
    from ascendflow.doctor.npu_smi import Chip
    from ascendflow.doctor.toolkit import Toolkit
    from ascendflow.documents.doctor import DoctorFinding

_FOUND = Findings("device")


def check(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge the device; that there is none is no fault, since atc needs none."""
    driver = facts.driver
    if driver.root is None and driver.devices == 0 and driver.npu_smi is None:
        yield _FOUND.note(
            "no driver and no NPU here: atc builds an OM without, but none can be run",
            "run the OM on a machine that has an NPU",
        )
        return
    yield from _driver(driver)
    for chip in driver.listing.chips:
        yield from _chip(chip)
        yield from _known(chip, facts.toolkit)
    yield from _soc(facts)


def _driver(driver: Driver) -> Iterator[DoctorFinding]:
    if driver.root is None:
        yield _FOUND.warning(
            "the driver's folder is not found, so its version and libraries are unknown",
            "in a container mount /usr/local/Ascend/driver and /etc/ascend_install.info",
        )
    elif driver.version is None:
        message = f"{driver.root}/version.info does not say the driver's version"
        yield _FOUND.note(message, "install the driver again if no OM can be run")
    if driver.devices == 0:
        yield _FOUND.warning(
            "there is no /dev/davinci*, so no device can be opened",
            "in a container pass it on: --device /dev/davinci0; else load the driver",
        )
    if driver.npu_smi is None:
        message = "npu-smi is not found, so nothing is known of the chips"
        yield _FOUND.warning(message, "in a container mount /usr/local/bin/npu-smi")
    elif driver.problem is not None:
        yield _FOUND.warning(
            f"{driver.npu_smi} info: {driver.problem}",
            "run it by hand; reload the driver, or join the group HwHiAiUser",
        )


def _chip(chip: Chip) -> Iterator[DoctorFinding]:
    named = f"NPU {chip.npu}" + (f" chip {chip.chip}" if chip.chip is not None else "")
    if chip.health != HEALTHY:
        yield _FOUND.warning(
            f"{named} ({chip.name}): health is {chip.health}",
            f"see what is wrong: npu-smi info -t health -i {chip.npu}",
        )
    if chip.soc_version is None:
        yield _FOUND.note(
            f"{named}: the name {chip.name!r} does not say its soc_version",
            f"Ascend<Chip Name>, on A3 <Chip Name>_<NPU Name>, of: npu-smi info -t board "
            f"-i {chip.npu} -c {chip.chip or 0}",
        )


def _known(chip: Chip, toolkit: Toolkit | None) -> Iterator[DoctorFinding]:
    """Judge whether the installed CANN is one for this chip."""
    socs = toolkit.socs if toolkit is not None else ()
    if toolkit is not None and chip.soc_version and socs and chip.soc_version not in socs:
        yield _FOUND.warning(
            f"NPU {chip.npu} is {chip.soc_version}, which CANN {toolkit.version} "
            "does not have",
            "install a CANN that is for this chip",
        )


def _soc(facts: Facts) -> Iterator[DoctorFinding]:
    wanted = facts.asked.soc
    socs = {chip.soc_version for chip in facts.driver.listing.chips}
    if wanted and socs and None not in socs and wanted not in socs:
        there = ", ".join(sorted(each for each in socs if each is not None))
        yield _FOUND.error(
            f"soc_version {wanted} is asked for, the device here is {there}",
            "an OM runs on the SoC it was built for alone: change `convert.soc_version`",
        )
