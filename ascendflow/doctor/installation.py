"""Judges the installed CANN: whether atc can be run, and of what it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.backends.cann.needs import release_of
from ascendflow.backends.cann.toolkit import is_release
from ascendflow.backends.cann.toolkit_layout import ATC
from ascendflow.cann.profile import FIRST_OPEN, why_not_modelled
from ascendflow.doctor.finding import Findings
from ascendflow.doctor.toolkit import VARIABLES
from ascendflow.manifest.problems import closest_or_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.doctor.facts import Facts
    from ascendflow.doctor.toolkit import Toolkit
    from ascendflow.documents.doctor import DoctorFinding

CUSTOM_OPERATORS = "ASCEND_CUSTOM_OPP_PATH"
_FOUND = Findings("toolkit")
_REINSTALL = "install the toolkit again, or name another one with --toolkit DIR"


def check(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge what was found, or say where it was looked for."""
    if facts.machine.system != "linux":
        message = f"CANN is for Linux, this is {facts.machine.system}"
        yield _FOUND.error(message, "convert on a Linux machine; the emulator works here")
    for name, folder in facts.search.wrong:
        message = f"{name} is {folder}, which holds no CANN"
        if facts.toolkit is None:
            yield _FOUND.error(message, "correct it, or install CANN there")
        else:
            yield _FOUND.warning(message, f"{facts.toolkit.root} is taken; correct it")
    yield from _custom_operators(facts)
    if facts.cann is not None and (reason := why_not_modelled(facts.cann)) is not None:
        advice = "lint and emulator need a version they know; atc itself does not"
        say = _FOUND.note if facts.toolkit else _FOUND.warning
        yield say(reason, advice)
    if facts.toolkit is None:
        yield from _missing(facts)
        return
    yield from _atc(facts, facts.toolkit)
    yield from _set_env(facts.toolkit)
    yield from _arch(facts, facts.toolkit)
    yield from _version(facts, facts.toolkit)
    yield from _kernels(facts.toolkit)
    yield from _soc(facts.asked.soc, facts.toolkit)


def _missing(facts: Facts) -> Iterator[DoctorFinding]:
    if facts.search.named:
        return  # told already: that there is none where one was named
    variables = " nor ".join(VARIABLES[:2])
    yield _FOUND.error(
        f"no CANN is found; looked in {', '.join(facts.search.looked) or 'no folder'}; "
        f"neither {variables} is set",
        "install CANN's toolkit in one of these folders, or name its own: --toolkit DIR "
        "(set_env.sh need not be sourced)",
    )


def _custom_operators(facts: Facts) -> Iterator[DoctorFinding]:
    """Judge the packages of custom operators.

    They may bring kernels of CANN's own operators; an operator that ONNX does not know is
    refused when a model comes in, whatever is installed.
    """
    value = facts.machine.environment.get(CUSTOM_OPERATORS, "")
    for folder in filter(None, value.split(":")):
        if not (folder.startswith("/") and facts.machine.is_folder(folder)):
            yield _FOUND.warning(
                f"{CUSTOM_OPERATORS} names {folder}, which is no folder",
                "correct the variable, or unset it",
            )
    if value:
        yield _FOUND.note(
            f"{CUSTOM_OPERATORS} is set in this shell, which atc does not see by itself",
            "for other kernels of CANN's own operators name it under `environment` in a "
            "manifest; a model with operators of its own is taken by no pipeline: there "
            "would be no golden of them",
        )


def _atc(facts: Facts, toolkit: Toolkit) -> Iterator[DoctorFinding]:
    if toolkit.atc is None:
        forbidden = [place for place in toolkit.unusable if place.endswith("/atc")]
        if forbidden:
            message = f"{forbidden[0]} cannot be run by this user"
            yield _FOUND.error(message, "make it executable, or install the toolkit again")
        else:
            message = f"{toolkit.root} holds no atc; looked for {', '.join(ATC)}"
            advice = "install the whole toolkit (nnrt alone has no atc), or name another"
            yield _FOUND.error(message, f"{advice}: --toolkit DIR")
    elif facts.machine.program("atc", facts.machine.path()) is None:
        yield _FOUND.note(
            "atc is not on PATH: set_env.sh was not sourced in this shell",
            "nothing for ascendflow, which reads set_env.sh itself; to call atc by hand: "
            f"source {toolkit.set_env or 'set_env.sh'}",
        )


def _set_env(toolkit: Toolkit) -> Iterator[DoctorFinding]:
    if toolkit.set_env is None:
        forbidden = [place for place in toolkit.unusable if place.endswith(".sh")]
        what = f"{forbidden[0]} cannot be read" if forbidden else "there is no set_env.sh"
        yield _FOUND.error(
            f"{toolkit.root}: {what}: atc's environment is unknown", _REINSTALL
        )


def _arch(facts: Facts, toolkit: Toolkit) -> Iterator[DoctorFinding]:
    if toolkit.arch not in (None, facts.machine.arch):
        yield _FOUND.error(
            f"{toolkit.root} is for {toolkit.arch}, this machine is {facts.machine.arch}",
            f"install the toolkit for {facts.machine.arch}",
        )


def _version(facts: Facts, toolkit: Toolkit) -> Iterator[DoctorFinding]:
    if toolkit.version is None:
        message = f"{toolkit.root}: no file says which version of CANN it is"
        yield _FOUND.error(message, _REINSTALL)
        return
    releases = {release_of(each) for each in (toolkit.version, *toolkit.packages.values())}
    if len(releases) > 1:
        parts = ", ".join(f"{name} {each}" for name, each in toolkit.packages.items())
        message = f"{toolkit.root} is CANN {toolkit.version} made of several: {parts}"
        yield _FOUND.warning(message, "install all packages of one version of CANN")
    if facts.asked.cann and not is_release(facts.asked.cann, toolkit.version):
        yield _FOUND.error(
            f"CANN {facts.asked.cann} is asked for, {toolkit.root} is {toolkit.version}",
            "install that version, or change `convert.cann` in the manifest",
        )


def _kernels(toolkit: Toolkit) -> Iterator[DoctorFinding]:
    release = release_of(toolkit.version)
    if release is not None and release >= FIRST_OPEN and not toolkit.kernels:
        yield _FOUND.warning(
            f"{toolkit.root} holds no kernels: from 8.5 on they are a package of their own",
            "install the operator package of the chip (Ascend-cann-<chip>-ops)",
        )


def _soc(wanted: str, toolkit: Toolkit) -> Iterator[DoctorFinding]:
    if wanted and toolkit.socs and wanted not in toolkit.socs:
        yield _FOUND.error(
            f"soc_version {wanted} is asked for; CANN {toolkit.version} does not have it",
            closest_or_all(wanted, toolkit.socs),
        )
