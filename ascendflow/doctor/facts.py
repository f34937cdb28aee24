"""All that is known of a machine before it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.doctor.driver import look_at_driver
from ascendflow.doctor.interpreter import ask_interpreter
from ascendflow.doctor.toolkit import find_toolkit

if TYPE_CHECKING:
    from ascendflow.doctor.driver import Driver
    from ascendflow.doctor.interpreter import Interpreter
    from ascendflow.doctor.machine import Machine
    from ascendflow.doctor.toolkit import Search, Toolkit


@dataclass(frozen=True)
class Asked:
    """What the command line says; "" where it says nothing.

    Attributes:
        backend: emulator or cann.
        toolkit: the folder of a CANN.
        python: the python3 for atc and ais_bench.
        cann: the CANN version that a manifest asks for.
        soc: the SoC that it asks for.
    """

    backend: str = ""
    toolkit: str = ""
    python: str = ""
    cann: str = ""
    soc: str = ""


@dataclass(frozen=True)
class Facts:
    """What was seen.

    Attributes:
        machine: where.
        asked: what for.
        search: of the toolkit.
        interpreter: the python3 for atc and ais_bench.
        driver: of the device.
    """

    machine: Machine
    asked: Asked
    search: Search
    interpreter: Interpreter
    driver: Driver

    @property
    def toolkit(self) -> Toolkit | None:
        """The toolkit, or None."""
        return self.search.toolkit

    @property
    def cann(self) -> str | None:
        """The CANN version that all must fit: the installed one, else the one asked for."""
        installed = self.toolkit.version if self.toolkit else None
        return installed or self.asked.cann or None


def look(machine: Machine, asked: Asked) -> Facts:
    """Look at everything; nothing is judged here."""
    return Facts(
        machine,
        asked,
        find_toolkit(machine, asked.toolkit),
        ask_interpreter(machine, asked.python),
        look_at_driver(machine),
    )
