"""The machine a stage runs on, as far as it can change a float.

Source of the levels: x86-64 psABI, table 3.1 "Micro-Architecture Levels".
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendflow.documents.record import Platform

_V2 = frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
LEVELS = (("x86-64-v4", _V4), ("x86-64-v3", _V3), ("x86-64-v2", _V2))
"""Best first, by the names /proc/cpuinfo has for them (`pni` is SSE3, `abm` LZCNT)."""


def isa_level(flags: frozenset[str]) -> str:
    """Name the highest level whose flags are all there, else "unknown"."""
    return next((level for level, needed in LEVELS if needed <= flags), "unknown")


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """Read the flags of the first CPU out of the text of /proc/cpuinfo."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def describe(*, floats: bool) -> Platform:
    """Describe this machine: os, machine, and the ISA level where floats are computed."""
    platform: Platform = {"os": sys.platform, "machine": _machine()}
    if floats:
        platform["isa"] = _isa()
    return platform


@cache
def _machine() -> str:
    return os.uname().machine


@cache
def _isa() -> str:
    return isa_level(cpu_flags(_first_cpu("/proc/cpuinfo")))


def _first_cpu(path: str) -> str:
    # Not the whole file: the kernel asks each CPU for its frequency as it is read.
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 14)
    except OSError:
        return ""
