"""`ascendflow doctor`: what is installed, what fits, and what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.atc_words import SOC_VERSIONS
from ascendflow.documents.doctor import DOCTOR_BACKENDS
from ascendflow.errors import UsageError
from ascendflow.tasks import signals
from ascendflow.tasks.commands.command import OwnCommand
from ascendflow.tasks.commands.options import refuse_unknown, word

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
        word(
            "toolkit",
            "DIR",
            "the folder of a CANN; else variables and the usual folders tell",
        ),
        word(
            "python",
            "PATH",
            "the python3 for atc and ais_bench; else the first other one on PATH",
        ),
        word("backend", "BACKEND", "emulator or cann: what the exit code is about"),
        word("cann", "VERSION", "the CANN version that is wanted, e.g. 8.1"),
        word("soc", "SOC", "the SoC that is wanted, e.g. Ascend310P3"),
        word(
            "format",
            "FORMAT",
            "text or json (its schema: `schema doctor`) [default: text]",
            "text",
        ),
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Look and tell; 0 ready, 2 something that the backend needs is missing."""
        if arguments:
            hint = f"usage: {self.bin_name} doctor {self.doc_usage}"
            raise UsageError(f"doctor: takes no {arguments[0]!r}", hint=hint)
        asked = _asked(options)
        signals.install()  # a device that hangs makes npu-smi hang
        found = _examined(asked)
        if asked.soc:  # a later CANN knows more than the one whose names are listed
            own = () if found["toolkit"] is None else found["toolkit"]["socs"]
            known = dict.fromkeys((*SOC_VERSIONS, *own))
            refuse_unknown("doctor", "soc", asked.soc, known)
        sys.stdout.write(_spelled(found, options["format"]))
        return 0 if found["ready"][found["backend"]] else NOT_READY


def _asked(options: dict[str, Any]) -> Asked:
    from ascendflow.backends.cann.needs import release_of
    from ascendflow.doctor.facts import Asked

    refuse_unknown("doctor", "format", options["format"], FORMATS)
    if options["backend"]:
        refuse_unknown("doctor", "backend", options["backend"], DOCTOR_BACKENDS)
    if options["cann"] and release_of(options["cann"]) is None:
        raise UsageError(
            f"doctor: --cann: {options['cann']!r} is no version", hint="e.g. 8.1 or 8.1.RC1"
        )
    names = ("backend", "toolkit", "python", "cann", "soc")
    return Asked(**{name: str(options[name]) for name in names})


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
