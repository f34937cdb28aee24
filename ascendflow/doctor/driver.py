"""The driver of the device: its files, its devices in /dev, and npu-smi's answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ascendflow.backends.cann.toolkit_layout import LONGEST
from ascendflow.doctor.machine import SYSTEM_PATH
from ascendflow.doctor.npu_smi import Listing, read_listing

if TYPE_CHECKING:
    from ascendflow.doctor.machine import Machine

INFO = "/etc/ascend_install.info"
USUAL = "/usr/local/Ascend"
LIBRARIES = ("lib64", "lib64/common", "lib64/driver")
_DEVICE = re.compile(r"davinci\d+", re.ASCII)


@dataclass(frozen=True)
class Driver:
    """A driver, or that there is none.

    Attributes:
        root: its folder, or None.
        version: as its version.info says, or None.
        devices: how many /dev/davinci* there are.
        npu_smi: the command, or None.
        listing: what it printed; empty where it was not run.
        problem: why it gave no list, or None.
    """

    root: str | None = None
    version: str | None = None
    devices: int = 0
    npu_smi: str | None = None
    listing: Listing = field(default_factory=Listing)
    problem: str | None = None


def look_at_driver(machine: Machine) -> Driver:
    """Look for the driver, and run `npu-smi info` where there is one."""
    root = _root(machine)
    version = machine.entries(f"{root}/version.info").get("Version") if root else None
    if version is not None and not 0 < len(version) <= LONGEST:
        version = None
    devices = sum(_DEVICE.fullmatch(name) is not None for name in machine.names("/dev"))
    npu_smi = machine.program("npu-smi", [*machine.path(), *SYSTEM_PATH])
    if npu_smi is None:
        return Driver(root, version, devices)
    libraries = ":".join(f"{root or USUAL + '/driver'}/{each}" for each in LIBRARIES)
    ran = machine.ask([npu_smi, "info"], LD_LIBRARY_PATH=libraries)
    listing = read_listing(ran.output)
    problem = ran.problem
    if problem is None and not listing.chips:
        problem = "lists no chip"
    if problem is not None:
        said = next((line.strip() for line in ran.output.split("\n") if line.strip()), "")
        problem += f": {said[:200]}" if said else ""
    return Driver(root, version, devices, npu_smi, listing, problem)


def _root(machine: Machine) -> str | None:
    said = machine.entries(INFO).get("Driver_Install_Path_Param", "")
    for folder in (said, USUAL):
        root = f"{folder.rstrip('/')}/driver"
        if root.startswith("/") and (
            machine.is_file(f"{root}/version.info") or machine.is_folder(f"{root}/lib64")
        ):
            return root
    return None
