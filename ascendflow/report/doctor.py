"""What doctor found, as lines of text; of a document, so nothing is looked at anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.report.words import counted
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.documents.doctor import (
        Doctor,
        DoctorFinding,
        Fit,
        InstalledDriver,
        InstalledToolkit,
    )

GB = 10**9
USUAL = "8.1"
"""The CANN that `init` writes, of which alone it is told where none is installed."""
SHOWN_OWN = ("numpy", "onnx", "onnxruntime", "onnxsim", "torch")
SHOWN_FOREIGN = ("numpy", "ais_bench", "aclruntime", "mindstudio-probe")


def doctor_lines(doctor: Doctor) -> Iterator[str]:
    """Tell the upshot, what is there, what fits, what is missing and what to do."""
    for line in _lines(doctor):
        yield printable(line)


def _lines(doctor: Doctor) -> Iterator[str]:
    yield from _upshot(doctor)
    yield ""
    own = doctor["own"]
    packages = _packages(own["packages"], SHOWN_OWN)
    where = f"{doctor['os']} {doctor['machine']}"
    yield _row("ascendflow", f"{own['ascendflow']} on {where}; Python {own['python']}")
    yield _row("", packages)
    for space in doctor["disk"]:
        free = space["free_bytes"]
        told = "unknown" if free is None else f"{free / GB:.1f} GB free"
        yield _row("disk", f"{told} in {space['folder']} ({space['purpose']})")
    yield from _toolkit(doctor["toolkit"])
    yield from _python(doctor)
    yield from _driver(doctor["driver"])
    yield from _fits(doctor["fits"])
    yield ""
    yield from _findings(doctor)


def _row(name: str, told: str) -> str:
    return f"{name:12}{told}"


def _packages(packages: Mapping[str, str | None], shown: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {packages.get(name) or 'absent'}" for name in shown)


def _toolkit(toolkit: InstalledToolkit | None) -> Iterator[str]:
    if toolkit is None:
        yield _row("CANN", "not found")
        return
    version = toolkit["version"] or "of unknown version"
    yield _row("CANN", f"{version} in {toolkit['root']} ({toolkit['found_by']})")
    yield _row("", f"atc {toolkit['atc'] or 'not found'}")
    yield _row("", f"set_env.sh {toolkit['set_env'] or 'not found'}")
    kernels = ", ".join(toolkit["kernels"])
    yield _row("", f"kernels for {kernels or 'no chip that is seen'}")


def _python(doctor: Doctor) -> Iterator[str]:
    python = doctor["python"]
    if python is None:
        yield _row("python", "none for atc")
        return
    where = f"{python['executable']} ({python['found_by']})"
    yield _row("python", f"{python['python']} for atc: {where}")
    yield _row("", _packages(python["packages"], SHOWN_FOREIGN))


def _driver(driver: InstalledDriver) -> Iterator[str]:
    if driver["root"] is None:
        yield _row("driver", "not found")
    else:
        yield _row("driver", f"{driver['version'] or 'unknown'} in {driver['root']}")
    if driver["npu_smi"] is not None:
        version = driver["npu_smi_version"] or "of unknown version"
        yield _row("npu-smi", f"{version}: {driver['npu_smi']}")
    for chip in driver["chips"]:
        name = chip["soc_version"] or chip["name"]
        yield _row("", f"NPU {chip['npu']}: {name}, health {chip['health']}")


def _fits(fits: list[Fit]) -> Iterator[str]:
    shown = fits if len(fits) == 1 else [fit for fit in fits if fit["cann"] == USUAL]
    for fit in shown:
        opsets, pythons = (f"{a} to {b}" for a, b in (fit["opsets"], fit["python"]))
        told = f"CANN {fit['cann']}: opset {opsets}, Python {pythons}, numpy {fit['numpy']}"
        yield _row("fits", told)
    if len(fits) > 1:
        others = ", ".join(fit["cann"] for fit in fits if fit["cann"] != USUAL)
        yield _row("", f"--cann VERSION tells of {others}")


def _findings(doctor: Doctor) -> Iterator[str]:
    """Tell what concerns the backend, then what a conversion would need too."""
    own = ("emulator", doctor["backend"])
    for found in doctor["findings"]:
        if found["backend"] in own:
            yield from _finding(found, found["severity"])
    others = [found for found in doctor["findings"] if found["backend"] not in own]
    if others:
        yield "A conversion with atc (backend cann) would need:"
    for found in others:
        word = "missing" if found["severity"] == "error" else found["severity"]
        yield from (f"  {line}" for line in _finding(found, word))


def _finding(found: DoctorFinding, word: str) -> Iterator[str]:
    yield f"{word}: {found['message']} [{found['check']}]"
    yield f"  do: {found['advice']}"


def _upshot(doctor: Doctor) -> Iterator[str]:
    backend, ready = doctor["backend"], doctor["ready"]
    why = f"backend {backend} ({doctor['chosen_by']})"
    if not ready[backend]:
        own = ("emulator", backend)
        errors = [
            found
            for found in doctor["findings"]
            if found["severity"] == "error" and found["backend"] in own
        ]
        yield f"{why}: not ready, {counted(len(errors), 'error')}"
    elif backend == "emulator":
        yield f"The emulator works here: it needs neither CANN nor an NPU. {why}: ready"
    else:
        yield f"{why}: ready to convert"
    if backend == "cann" and ready["emulator"] and not ready["cann"]:
        yield "The emulator works here all the same: `convert: {backend: emulator}`."
