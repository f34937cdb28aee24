"""Judges the space that is left where a run writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.doctor.finding import Findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.doctor.facts import Facts
    from ascendflow.doctor.machine import Machine
    from ascendflow.documents.doctor import DiskSpace, DoctorFinding

GB = 10**9
TOO_LITTLE, LITTLE = 1 * GB, 5 * GB
"""Bytes: no model is built below the first; below the second a large one may not fit."""

_FOUND = Findings("disk", "emulator")


def spaces(machine: Machine) -> list[DiskSpace]:
    """Return the folders that a run writes to, with the space that is left."""
    folders = (
        ("build and store", machine.folder),
        ("temporary files", machine.temporary),
    )
    return [
        {
            "purpose": purpose,
            "folder": folder,
            "free_bytes": machine.free_bytes(machine.at(folder)),
        }
        for purpose, folder in folders
    ]


def check(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge each folder."""
    for space in spaces(facts.machine):
        where = f"{space['folder']} ({space['purpose']})"
        free = space["free_bytes"]
        advice = "free some space there, or run `doit gc`"
        if free is None:
            yield _FOUND.warning(f"{where}: free space cannot be told", advice)
        elif free < TOO_LITTLE:
            yield _FOUND.error(f"{where}: {free / GB:.2f} GB free, 1 GB is needed", advice)
        elif free < LITTLE:
            message = f"{where}: {free / GB:.1f} GB free; a large model may not fit"
            yield _FOUND.warning(message, advice)
