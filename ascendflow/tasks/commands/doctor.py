"""`ascendflow doctor`: what is installed, what fits, and what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.doctor import DOCTOR_BACKENDS
from ascendflow.errors import UsageError
from ascendflow.manifest.problems import closest_or_all
from ascendflow.tasks import signals
from ascendflow.tasks.commands.command import OwnCommand

if TYPE_CHECKING:
    from ascendflow.doctor.facts import Asked
    from ascendflow.documents.doctor import Doctor as DoctorDocument

FORMATS = ("text", "json")
NOT_READY = 2


class Doctor(OwnCommand):
    """Looks at this machine; thin, see `ascendflow.doctor.examine`."""

    name = "doctor"
    doc_purpose = "say what is installed, what fits together, and what to do"
    doc_usage = "[--toolkit DIR] [--python PATH] [--backend emulator|cann]"
    doc_description = (
        "Exits with 0 if nothing is missing that the backend needs, else with 2. Without"
        " --backend it is about cann where a toolkit is named or found, else about the"
        " emulator, which needs none."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "name": "toolkit",
            "long": "toolkit",
            "default": "",
            "metavar": "DIR",
            "help": "the folder of a CANN; else variables and the usual folders tell",
        },
        {
            "name": "python",
            "long": "python",
            "default": "",
            "metavar": "PATH",
            "help": "the python3 for atc and ais_bench; else the first other one on PATH",
        },
        {
            "name": "backend",
            "long": "backend",
            "default": "",
            "metavar": "BACKEND",
            "help": "emulator or cann: what the exit code is about",
        },
        {
            "name": "cann",
            "long": "cann",
            "default": "",
            "metavar": "VERSION",
            "help": "the CANN version that is wanted, e.g. 8.1",
        },
        {
            "name": "soc",
            "long": "soc",
            "default": "",
            "metavar": "SOC",
            "help": "the SoC that is wanted, e.g. Ascend310P3",
        },
        {
            "name": "format",
            "long": "format",
            "default": "text",
            "metavar": "FORMAT",
            "help": "text or json (its schema: `schema doctor`) [default: text]",
        },
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Look and tell; 0 ready, 2 something that the backend needs is missing."""
        if arguments:
            hint = f"usage: {self.bin_name} doctor {self.doc_usage}"
            raise UsageError(f"doctor: takes no {arguments[0]!r}", hint=hint)
        asked = _asked(options)
        signals.install()  # a device that hangs makes npu-smi hang
        found = _examined(asked)
        sys.stdout.write(_spelled(found, options["format"]))
        return 0 if found["ready"][found["backend"]] else NOT_READY


def _asked(options: dict[str, Any]) -> Asked:
    from ascendflow.doctor.facts import Asked
    from ascendflow.doctor.needs import release_of

    _refuse_unknown("format", options["format"], FORMATS)
    if options["backend"]:
        _refuse_unknown("backend", options["backend"], DOCTOR_BACKENDS)
    if options["cann"] and release_of(options["cann"]) is None:
        raise UsageError(
            f"doctor: --cann: {options['cann']!r} is no version", hint="e.g. 8.1 or 8.1.RC1"
        )
    names = ("backend", "toolkit", "python", "cann", "soc")
    return Asked(**{name: str(options[name]) for name in names})


def _refuse_unknown(option: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        hint = closest_or_all(given, known)
        raise UsageError(f"doctor: --{option}: {given!r} is not known", hint=hint)


def _examined(asked: Asked) -> DoctorDocument:
    from ascendflow.doctor.examine import examine
    from ascendflow.doctor.machine import this_machine
    from ascendflow.doctor.own import installed

    return examine(this_machine(installed()), asked)


def _spelled(found: DoctorDocument, form: str) -> str:
    if form == "json":
        from ascendflow.documents.json_file import json_text

        return json_text(found)
    from ascendflow.report.doctor import doctor_lines

    return "".join(f"{line}\n" for line in doctor_lines(found))
