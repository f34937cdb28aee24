"""Reads the table of `npu-smi info`, whose columns differ from driver to driver.

Each chip has two rows: number, name and health of the card; number and bus of the chip.
What else the rows hold is passed over, and so is every line that is neither. Whatever the
text, the answer is a list, at worst an empty one. Source: outputs of 21.0 to 26.0 in public
reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ascendflow.cann.soc import MODELLED, NAMED_ONLY

MOST_CHIPS = 1024
HEALTHY = "OK"

_VERSION = re.compile(r"npu-smi\s+v?(\d[\w.]{0,40})", re.ASCII)
_CARD = re.compile(r"(\d{1,6})\s+(\S.{0,60})", re.ASCII)
_CHIP = re.compile(r"(\d{1,6})(?:\s+[\w-]{1,20})?", re.ASCII)
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_HEALTH = re.compile(r"(?!NA$)[A-Za-z]{2,20}")
_PROCESSES = "Process id"


@dataclass(frozen=True)
class Chip:
    """One row of the table.

    Attributes:
        npu: number of the card.
        chip: number of the chip on it, or None.
        name: as it is written, e.g. "310P3".
        health: as it is written; "" where the row has none.
        bus: its PCIe address, or None.
    """

    npu: int
    name: str
    health: str
    chip: int | None = None
    bus: str | None = None

    @property
    def soc_version(self) -> str | None:
        """What `atc --soc_version` calls it; None where the name does not tell.

        "Ascend910" does not: on A3 it is one half of the name (`npu-smi info -t board`).
        """
        name = "Ascend" + self.name.replace(" ", "").removeprefix("Ascend")
        return name if name in MODELLED or name in NAMED_ONLY else None


@dataclass(frozen=True)
class Listing:
    """What `npu-smi info` printed.

    Attributes:
        version: its own, or None.
        chips: in the table's order.
    """

    version: str | None = None
    chips: tuple[Chip, ...] = ()


def read_listing(text: str) -> Listing:
    """Read any text; what is no row of a chip is passed over."""
    version: str | None = None
    chips: list[Chip] = []
    is_open = False  # whether the last card waits for its second row
    for line in text.split("\n"):
        if _PROCESSES in line or len(chips) >= MOST_CHIPS:
            break
        if version is None and (named := _VERSION.search(line)) is not None:
            version = named[1]
        cells = _cells(line)
        if is_open and (chip := _second(cells)) is not None:
            chips[-1] = replace(chips[-1], chip=chip[0], bus=chip[1])
            is_open = False
        elif (card := _first(cells)) is not None:
            chips.append(card)
            is_open = True
    return Listing(version, tuple(chips))


def _cells(line: str) -> list[str]:
    line = line.strip()
    if len(line) < 2 or line[0] != "|" or line[-1] != "|":
        return []
    return [cell.strip() for cell in line[1:-1].split("|")]


def _first(cells: list[str]) -> Chip | None:
    """Read "| 0  310P3 | OK | ... |"."""
    if len(cells) < 2 or _BUS.fullmatch(cells[1]):
        return None
    card = _CARD.fullmatch(cells[0])
    if card is None or not _HEALTH.fullmatch(cells[1]):
        return None
    return Chip(int(card[1]), card[2].strip(), cells[1])


def _second(cells: list[str]) -> tuple[int, str | None] | None:
    """Read "| 0  0 | 0000:86:00.0 | ... |"; the bus may be NA."""
    if len(cells) < 2:
        return None
    chip = _CHIP.fullmatch(cells[0])
    if chip is None or _HEALTH.fullmatch(cells[1]):
        return None
    return int(chip[1]), cells[1] if _BUS.fullmatch(cells[1]) else None
