"""Looks at a machine, judges it, and says whether a backend can work there."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ascendflow import __version__
from ascendflow.backends.cann.needs import FIRST_PYTHON, dotted, needs
from ascendflow.cann.profile import profile as profile_of
from ascendflow.cann.profile import why_not_modelled
from ascendflow.doctor import device, disk, installation, own, python
from ascendflow.doctor.facts import look
from ascendflow.doctor.interpreter import OPTION as PYTHON_OPTION
from ascendflow.documents.doctor import DOCTOR_BACKENDS, SEVERITIES

if TYPE_CHECKING:
    from ascendflow.doctor.driver import Driver
    from ascendflow.doctor.facts import Asked, Facts
    from ascendflow.doctor.interpreter import Interpreter
    from ascendflow.doctor.machine import Machine
    from ascendflow.doctor.toolkit import Toolkit
    from ascendflow.documents.doctor import (
        Doctor,
        DoctorBackend,
        DoctorFinding,
        Fit,
        ForeignPython,
        InstalledDriver,
        InstalledToolkit,
    )

CHECKS = (own.check, disk.check, installation.check, python.check, device.check)
"""What is judged, in this order."""

RELEASES = ("5.0", "6.0", "6.2", "7.0", "8.0", "8.1", "8.5", "9.0", "9.1")
"""Of which it is told what fits, where no CANN is installed."""


def examine(machine: Machine, asked: Asked) -> Doctor:
    """Look and judge.

    Args:
        machine: where.
        asked: what the command line says.
    """
    facts = look(machine, asked)
    findings = [found for check in CHECKS for found in check(facts)]
    findings.sort(key=lambda found: SEVERITIES.index(found["severity"]))
    backend, chosen_by = _backend(facts)
    return {
        "schema_version": 1,
        "backend": backend,
        "chosen_by": chosen_by,
        "ready": {each: _is_ready(findings, each) for each in DOCTOR_BACKENDS},
        "os": machine.system,
        "machine": machine.arch,
        "own": {
            "ascendflow": __version__,
            "python": dotted(machine.python),
            "prefix": machine.prefix,
            "packages": dict(machine.packages),
        },
        "disk": disk.spaces(machine),
        "toolkit": _toolkit(facts.toolkit) if facts.toolkit else None,
        "python": _python(facts.interpreter),
        "driver": _driver(facts.driver),
        "fits": _fits(facts.cann),
        "findings": findings,
    }


def _is_ready(findings: list[DoctorFinding], backend: DoctorBackend) -> bool:
    """Whether nothing is missing that a backend needs."""
    needed = ("emulator", backend)  # what the emulator needs, all need
    return not any(
        found["severity"] == "error" and found["backend"] in needed for found in findings
    )


def _backend(facts: Facts) -> tuple[DoctorBackend, str]:
    if facts.asked.backend:
        backend: DoctorBackend = "cann" if facts.asked.backend == "cann" else "emulator"
        return backend, "--backend"
    if facts.search.named:
        return "cann", facts.search.named[0][0]
    if facts.asked.python:
        return "cann", PYTHON_OPTION
    if facts.toolkit is not None:
        return "cann", f"a toolkit is installed in {facts.toolkit.root}"
    return "emulator", "no CANN is found"


def _toolkit(toolkit: Toolkit) -> InstalledToolkit:
    return {
        "root": toolkit.root,
        "found_by": toolkit.found_by,
        "version": toolkit.version,
        "arch": toolkit.arch,
        "packages": toolkit.packages,
        "set_env": toolkit.set_env,
        "atc": toolkit.atc,
        "kernels": list(toolkit.kernels),
        "socs": list(toolkit.socs),
    }


def _python(asked: Interpreter) -> ForeignPython | None:
    if asked.problem is not None:
        return None
    return {
        "executable": asked.executable,
        "found_by": asked.found_by,
        "python": asked.python,
        "machine": asked.machine,
        "packages": asked.packages,
    }


def _driver(driver: Driver) -> InstalledDriver:
    return {
        "root": driver.root,
        "version": driver.version,
        "devices": driver.devices,
        "npu_smi": driver.npu_smi,
        "npu_smi_version": driver.listing.version,
        "chips": [
            {**asdict(chip), "soc_version": chip.soc_version}  # type: ignore[typeddict-item]
            for chip in driver.listing.chips
        ],
    }


def _fits(cann: str | None) -> list[Fit]:
    known = cann is not None and needs(cann) is not None and why_not_modelled(cann) is None
    return [_fit(each) for each in ([cann] if known and cann else RELEASES)]


def _fit(cann: str) -> Fit:
    row = needs(cann)
    if row is None:
        raise ValueError(cann)
    return {
        "cann": cann,
        "opsets": list(profile_of(cann).opsets),
        "python": [dotted(FIRST_PYTHON), dotted(row.last_python)],
        "numpy": row.numpy_words(),
    }
