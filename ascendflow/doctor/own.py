"""Judges ascendflow's own Python and packages, which every backend needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.backends.cann.needs import dotted, numbers
from ascendflow.doctor.finding import Findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.doctor.facts import Facts
    from ascendflow.documents.doctor import DoctorFinding

FIRST_PYTHON, BELOW_PYTHON = (3, 11), (3, 14)

REQUIRED = (
    ("doit", ">=0.37,<0.39"),
    ("onnx", ">=1.23,<2"),
    ("onnx-ir", ">=1.1,<2"),
    ("onnxsim", ">=0.8.1,<0.9"),
    ("onnxruntime", ">=1.32,<2"),
    ("pydantic", ">=2.14,<3"),
    ("jsonschema", ">=4.26,<5"),
    ("ruamel.yaml", ">=0.19,<0.20"),
    ("numpy", ">=2.2,<3"),
    ("rich", ">=15,<16"),
    ("jinja2", ">=3.1,<4"),
)
"""What pyproject.toml declares."""
FOR_PYTORCH = (("torch", ">=2.13,<3"), ("onnxscript", ">=0.7.2,<0.8"))
"""What its extra `torch` declares."""

INSTALL = "install ascendflow's requirements again: pip install -r requirements.lock"

_FOUND = Findings("ascendflow", "emulator")


def installed() -> dict[str, str | None]:
    """Look up what is installed here.

    Raises:
        AscendflowError: a folder holds two versions of one.
    """
    from ascendflow.cache.tools import ABSENT, versions

    names = [name for name, _ in (*REQUIRED, *FOR_PYTORCH)]
    found = versions((), optional=names)
    return {name: None if found[name] == ABSENT else found[name] for name in names}


def check(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge this Python and what is installed for it."""
    machine = facts.machine
    if not FIRST_PYTHON <= machine.python[:2] < BELOW_PYTHON:
        allowed = f"{dotted(FIRST_PYTHON)} to 3.{BELOW_PYTHON[1] - 1}"
        yield _FOUND.error(
            f"ascendflow runs on Python {dotted(machine.python)}, not one of {allowed}",
            f"make its environment with a Python {allowed}",
        )
    for name, declared in REQUIRED:
        if (problem := _problem(machine.packages, name, declared)) is not None:
            yield _FOUND.error(problem, INSTALL)
    if machine.packages.get("torch") is None:
        yield _FOUND.note(
            "torch is not installed: models can come from ONNX files alone",
            "for models from PyTorch install ascendflow with its extra [torch]",
        )
    else:
        for name, declared in FOR_PYTORCH:
            if (problem := _problem(machine.packages, name, declared)) is not None:
                yield _FOUND.warning(problem, INSTALL)


def _problem(packages: Mapping[str, str | None], name: str, declared: str) -> str | None:
    version = packages.get(name)
    if version is None:
        return f"{name} is not installed, {declared} is needed"
    if not _fits(version, declared):
        return f"{name} is {version}, {declared} is needed"
    return None


def _fits(version: str, declared: str) -> bool:
    """Whether a version is within ">=A,<B"."""
    bounds = re.fullmatch(r">=([\d.]+),<([\d.]+)", declared)
    found = numbers(version)
    return bounds is not None and numbers(bounds[1]) <= found < numbers(bounds[2])
