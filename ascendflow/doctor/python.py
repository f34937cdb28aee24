"""Judges the python3 that atc compiles kernels with, and what is installed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.backends.cann.needs import (
    FIRST_PYTHON,
    PROXY_PYTHON,
    dotted,
    needs,
    numbers,
    numpy_spec,
    pip,
)
from ascendflow.doctor.finding import Findings
from ascendflow.doctor.interpreter import BENCH, FOR_KERNELS, NOT_PROBE, OPTION, PROBE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.backends.cann.needs import Needs
    from ascendflow.doctor.facts import Facts
    from ascendflow.doctor.interpreter import Interpreter
    from ascendflow.documents.doctor import DoctorFinding

LAST_BENCH_PYTHON = (3, 12)
"""The last Python that there are wheels of aclruntime for (0.0.2)."""
BEFORE_85 = "before CANN 8.5"
LAST_BEFORE_85 = "8.4"
"""Its numpy is one that every earlier release takes too."""

_PYTHON, _BENCH, _PROBE = Findings("python"), Findings("ais_bench"), Findings("msprobe")
_ANOTHER = "name another with --python PATH, in a manifest with convert.python"


def check(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge the interpreter, or say why there is no answer from it."""
    asked = facts.interpreter
    if asked.problem is not None:
        named = f"{asked.executable} " if asked.executable else ""
        message = f"python3 for atc: {named}{asked.problem}"
        yield _PYTHON.error(message, f"install a python3 for CANN; {_ANOTHER}")
        return
    if asked.ours or asked.prefix == facts.machine.prefix:
        yield _PYTHON.error(
            f"{asked.executable} has ascendflow in it; atc must have a Python of its own",
            f"make an environment for CANN with numpy in it; {_ANOTHER}",
        )
    if asked.machine != facts.machine.arch:
        yield _PYTHON.error(
            f"{asked.executable} is for {asked.machine}, not {facts.machine.arch}", _ANOTHER
        )
    row, cann = needs(facts.cann), facts.cann
    yield from _version(asked, row, cann)
    yield from _numpy(asked, row, cann)
    yield from _for_kernels(asked, row)
    yield from _bench(facts)
    yield from _probe(asked)


def _version(
    asked: Interpreter, row: Needs | None, cann: str | None
) -> Iterator[DoctorFinding]:
    version = numbers(asked.python)
    told = f"{asked.executable} is Python {asked.python}"
    if version[:2] < FIRST_PYTHON:
        advice = f"CANN takes Python {dotted(FIRST_PYTHON)} and later; {_ANOTHER}"
        yield _PYTHON.error(f"{told}, too old for any CANN", advice)
    elif row is None:
        if version >= PROXY_PYTHON:
            message = f"{told}: {BEFORE_85} atc fails with it (FrameLocalsProxy)"
            yield _PYTHON.warning(message, f"take 3.7 to 3.11 there; {_ANOTHER}")
    elif version[:2] > row.last_python:
        allowed = f"CANN {cann} takes {dotted(FIRST_PYTHON)} to {dotted(row.last_python)}"
        if row.last_python < PROXY_PYTHON <= version:
            yield _PYTHON.error(
                f"{told}: atc of CANN {cann} fails with 'cannot pickle FrameLocalsProxy', "
                "which Python has from 3.13 on",
                f"{allowed}; {_ANOTHER}",
            )
        else:
            yield _PYTHON.warning(f"{told}; {allowed}", _ANOTHER)


def _numpy(
    asked: Interpreter, row: Needs | None, cann: str | None
) -> Iterator[DoctorFinding]:
    said = asked.packages.get("numpy")
    install = f"{_pip(asked, row)} install"
    if said is None:
        yield _PYTHON.error(
            f"{asked.executable} has no numpy, which atc compiles kernels with",
            f"{install} 'numpy{numpy_spec(row, numbers(asked.python))}'",
        )
        return
    if asked.broken:
        why = " ".join(asked.broken.split())[:200]
        yield _PYTHON.error(
            f"{asked.executable} has numpy {said}, which cannot be imported: {why}",
            f"{install} --force-reinstall 'numpy{numpy_spec(row, numbers(asked.python))}'",
        )
    yield from _numpy_version(asked, said, row, cann)


def _numpy_version(
    asked: Interpreter, said: str, row: Needs | None, cann: str | None
) -> Iterator[DoctorFinding]:
    version, told = numbers(said), f"{asked.executable} has numpy {said}"
    if row is None:
        if version >= (2,):
            message = f"{told}: {BEFORE_85} atc fails with it (np.float_ was removed)"
            before = needs(LAST_BEFORE_85)
            spec = numpy_spec(before, numbers(asked.python))
            advice = f"for those: {_pip(asked, before)} install 'numpy{spec}'"
            yield _PYTHON.warning(message, advice)
        return
    first, below = row.numpy(numbers(asked.python))
    spec = numpy_spec(row, numbers(asked.python))
    advice = f"{_pip(asked, row)} install 'numpy{spec}'"
    if below is not None and version >= (2,):
        message = f"{told}: CANN {cann} needs numpy<2: numpy 2 has no np.float_"
        yield _PYTHON.error(message, advice)
    elif version < first or (below is not None and version >= below):
        yield _PYTHON.warning(f"{told}, CANN {cann} takes numpy{spec}", advice)


def _pip(asked: Interpreter, row: Needs | None = None) -> str:
    return pip(asked.executable, numbers(asked.python), row)


def _for_kernels(asked: Interpreter, row: Needs | None) -> Iterator[DoctorFinding]:
    absent = [name for name in FOR_KERNELS if asked.packages.get(name) is None]
    if absent:
        yield _PYTHON.warning(
            f"{asked.executable} has no {', '.join(absent)}, which CANN's guide asks for",
            f"{_pip(asked, row)} install {' '.join(absent)}",
        )


def _bench(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge what runs an OM; without a device here it is the board that needs it."""
    asked = facts.interpreter
    absent = [name for name in BENCH if asked.packages.get(name) is None]
    if not absent:
        return
    message = f"{asked.executable} has no {' and no '.join(absent)}: no OM is run with it"
    advice = (
        "install the wheels that Ascend's tools repository names (none is on PyPI), or "
        "`msprobe install_deps -m offline`"
    )
    if numbers(asked.python)[:2] > LAST_BENCH_PYTHON:
        message += f"; there are no wheels for Python {asked.python}"
        advice = f"take a Python up to {dotted(LAST_BENCH_PYTHON)}: {OPTION} PATH"
    here = facts.driver.root is not None or facts.driver.devices > 0
    yield _BENCH.warning(message, advice) if here else _BENCH.note(message, advice)


def _probe(asked: Interpreter) -> Iterator[DoctorFinding]:
    ours = _pip(asked)
    if asked.packages.get(NOT_PROBE) is not None:
        yield _PROBE.warning(
            f"{asked.executable} has {NOT_PROBE} {asked.packages[NOT_PROBE]} from PyPI, "
            "which scans servers and is not Ascend's tool",
            f"{ours} uninstall {NOT_PROBE}; Ascend's is {ours} install {PROBE}",
        )
    if asked.packages.get(PROBE) is None:
        yield _PROBE.note(
            f"{asked.executable} has no msprobe, which only `nodes_by: msprobe` needs",
            f"{ours} install {PROBE} (never {NOT_PROBE}, which is something else)",
        )
