"""Whether an OM may run where it is about to: versions and machine, before it is loaded.

Source: CANN's documents of compatibility: an OM built with one version runs on that and
later ones; one of dynamic shape needs the same operator package. The SoC is held to the
device's own word by the worker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ascendflow.backends.cann.signature import DYNAMIC
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from ascendflow.backends.cann.signature import Signature

CPUS = ("x86_64", "aarch64")


def hold_to_device(said: Signature, cann: str, opp: str | None, arch: str, om: str) -> None:
    """Refuse an OM that this CANN, or this machine, is not for.

    Args:
        said: what the OM is.
        cann: the version of CANN that is to run it.
        opp: the version of that one's operator package, or None where there is none.
        arch: the machine: x86_64 or aarch64.
        om: the OM's file name; that of a dynamic shape ends in the machine's name.

    Raises:
        StageError: says both versions.
    """
    built, runs = _release(said["cann"]), _release(cann)
    if built is None or runs is None or runs < built:
        raise StageError(
            f"infer: the OM is built by CANN {said['cann']}, and {cann} is to run it",
            hint="an OM runs on the CANN that built it, or a later one: build it with the "
            "device's, or update the device's",
        )
    if said["shapes"] != DYNAMIC:
        return
    if opp != said["opp"]:
        raise StageError(
            f"infer: the OM has a dynamic shape and is built with the operator package "
            f"{said['opp']}; where it is to run there is {opp}",
            hint="such an OM needs the same one (else E19999): build it with that CANN",
        )
    named = next((cpu for cpu in CPUS if om.endswith(f"_{cpu}.om")), None)
    if named is not None and named != arch:
        raise StageError(
            f"infer: {om} is for {named}, and the device's machine is {arch}",
            hint=f"set convert.host_env_cpu: {arch}",
        )


def _release(version: str) -> tuple[int, int, int] | None:
    """Read "8.1.RC1" as (8, 1, 0): a release candidate's number is not held to."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.|$)", version, re.ASCII)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None
