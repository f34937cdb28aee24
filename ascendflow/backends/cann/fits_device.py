"""Whether an OM may run where it is about to: versions and machine, before it is loaded.

The OM's own attributes are held against the device's CANN, and what was written down at
its build only where it does not say. The SoC is held to the device's word by the worker.

Source: CANN's documents of compatibility: an OM built with one version runs on that and
later ones; one of dynamic shape needs the same operator package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.backends.cann.signature import DYNAMIC
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.backends.cann.own_word import OwnWord
    from ascendflow.backends.cann.signature import Signature


class There(NamedTuple):
    """Where the OM is to run.

    Attributes:
        cann: the version of CANN, e.g. "8.1.RC1".
        versions: package -> its own version, e.g. opp -> "7.7.0.1.238".
        arch: the machine: x86_64 or aarch64.
    """

    cann: str
    versions: Mapping[str, str]
    arch: str


def hold_to_device(said: Signature, own: OwnWord, there: There) -> None:
    """Refuse an OM that this CANN, or this machine, is not for.

    Args:
        said: what its build wrote down beside it.
        own: what it says of itself.
        there: the device's machine.

    Raises:
        StageError: says both values of each difference.
    """
    problems = [*_of_another_build(said, own), *_refused(said, own, there)]
    if problems:
        text = "\n".join(f"infer: {text}" for text, _ in problems)
        raise StageError(text, hint=problems[0][1])


def _of_another_build(said: Signature, own: OwnWord) -> Iterator[tuple[str, str]]:
    soc = said["soc_version"]
    if own.soc_version not in (None, soc):
        text = f"says that it is for {own.soc_version}, and model.json beside it, for {soc}"
        hint = "they are not of one build: build the model again"
        yield f"{own.path.name} {text}", hint


def _refused(said: Signature, own: OwnWord, there: There) -> Iterator[tuple[str, str]]:
    built, runs = _release(said["cann"]), _release(there.cann)
    rule = "an OM runs on the CANN that built it, or a later one"
    if built is None or runs is None or runs < built:
        text = f"the OM is built by CANN {said['cann']}, and {there.cann} is to run it"
        yield text, f"{rule}: build it with the device's, or update the device's"
    elif (older := _older_compiler(own, there)) is not None:
        text = f"the OM says that a compiler of version {own.atc_version} made it"
        text = f"{text}, and of the CANN that is to run it the version is {older}"
        yield text, f"{rule}: was it exchanged since its build?"
    if said["shapes"] == DYNAMIC or own.is_dynamic:
        yield from _refused_dynamic(said, own, there)


def _refused_dynamic(
    said: Signature, own: OwnWord, there: There
) -> Iterator[tuple[str, str]]:
    built, runs = own.opp_version or said["opp"], there.versions.get("opp")
    if runs is None or built != runs:
        text = f"the OM has a dynamic shape and is built with the operator package {built}"
        hint = "such an OM needs the same one (else E19999): build it with that CANN"
        yield f"{text}; where it is to run there is {runs}", hint
    if own.cpu not in (None, there.arch):
        text = f"is for {own.cpu}, and the device's machine is {there.arch}"
        yield f"{own.path.name} {text}", f"set convert.host_env_cpu: {there.arch}"


def _older_compiler(own: OwnWord, there: There) -> str | None:
    """Return the device's version of what made the OM, where that is an older one.

    Which package's version ATC writes depends on where its library lies, so any that is
    the same will do; and numbers of different kinds cannot be told apart by age.
    """
    if own.atc_version is None or own.atc_version in there.versions.values():
        return None
    runs = there.versions.get("compiler") or there.versions.get("runtime")
    made, has = _numbers(own.atc_version), _numbers(runs or "")
    return runs if made and has and has < made else None


def _numbers(version: str) -> tuple[int, ...]:
    """Read "7.7.0.1.238" as (7, 7, 0): what follows counts builds."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:\.|$)", version, re.ASCII)
    return tuple(map(int, match.groups())) if match else ()


def _release(version: str) -> tuple[int, int, int] | None:
    """Read "8.1.RC1" as (8, 1, 0): a release candidate's number is not held to."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.|$)", version, re.ASCII)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None
