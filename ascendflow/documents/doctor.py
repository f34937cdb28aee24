"""doctor.json: what `ascendflow doctor` found on a machine, and what it makes of that."""

from __future__ import annotations

from typing import Literal, TypedDict

DoctorBackend = Literal["emulator", "cann"]
DOCTOR_BACKENDS: tuple[DoctorBackend, ...] = ("emulator", "cann")

Severity = Literal["error", "warning", "note"]
"""`error`: what the backend needs is missing or cannot work. `warning`: it may not work, or
is not what CANN's documents allow. `note`: good to know."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Gravest first."""


class DoctorFinding(TypedDict):
    """One thing that is missing or does not fit, and what to do about it.

    `backend` is the one that needs it; what `emulator` needs, `cann` needs too.
    """

    check: str
    backend: DoctorBackend
    severity: Severity
    message: str
    advice: str


class OwnInstallation(TypedDict):
    """ascendflow's own Python; a package that is not there is null."""

    ascendflow: str
    python: str
    prefix: str
    packages: dict[str, str | None]


class DiskSpace(TypedDict):
    """A folder that a run writes to; `free_bytes` is null where it cannot be told."""

    purpose: str
    folder: str
    free_bytes: int | None


class InstalledToolkit(TypedDict):
    """A CANN; what its files do not say is null.

    `found_by` is the option or variable that names it, or "usual folder". `packages` is
    which release each of its packages is of; `kernels`, for which chips kernels are there;
    `socs`, what `--soc_version` may be.
    """

    root: str
    found_by: str
    version: str | None
    arch: str | None
    packages: dict[str, str]
    set_env: str | None
    atc: str | None
    kernels: list[str]
    socs: list[str]


class ForeignPython(TypedDict):
    """The python3 for atc and ais_bench; `packages` by their names on PyPI."""

    executable: str
    found_by: str
    python: str
    machine: str
    packages: dict[str, str | None]


class NpuChip(TypedDict):
    """A chip, as `npu-smi info` lists it; `soc_version` is null where it is not known."""

    npu: int
    chip: int | None
    name: str
    health: str
    bus: str | None
    soc_version: str | None


class InstalledDriver(TypedDict):
    """The driver, its devices in /dev, and what `npu-smi info` says."""

    root: str | None
    version: str | None
    devices: int
    npu_smi: str | None
    npu_smi_version: str | None
    chips: list[NpuChip]


class Fit(TypedDict):
    """What fits a release of CANN: opsets and Pythons from first to last, and numpy."""

    cann: str
    opsets: list[int]
    python: list[str]
    numpy: str


class Doctor(TypedDict):
    """What was found. `ready` is, by backend, whether no finding is an error for it.

    `chosen_by` is why `backend` is the one that the exit code is about. `fits` is of the
    toolkit's release, or of all known ones where there is no toolkit of a known release.
    """

    schema_version: Literal[1]
    backend: DoctorBackend
    chosen_by: str
    ready: dict[DoctorBackend, bool]
    os: str
    machine: str
    own: OwnInstallation
    disk: list[DiskSpace]
    toolkit: InstalledToolkit | None
    python: ForeignPython | None
    driver: InstalledDriver
    fits: list[Fit]
    findings: list[DoctorFinding]
