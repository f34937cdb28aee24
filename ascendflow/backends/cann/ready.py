"""Whether this machine has what a manifest names: said before anything dear runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.ssh import CLIENT, INSTALL
from ascendflow.backends.cann.toolkit import find_toolkit, is_release
from ascendflow.errors import StageError
from ascendflow.manifest.problems import closest_or_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.backends.cann.toolkit import Toolkit


PYTHONS = {
    "convert": "name the python3 that CANN was installed for",
    "infer": "name a python3 that has numpy and ais_bench, or acl",
}


def what_is_missing(slices: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is not installed here that stages will need, each with what to do.

    Only files are looked at: a Python that is there may still be the wrong one. Of what a
    board needs only the way there is.

    Args:
        slices: `convert`, `infer` or both -> the stage's slice of the manifest.
    """
    told: set[str] = set()  # infer's are convert's where the manifest names no others
    for stage, config in slices.items():
        options = config["options"]
        if options.get("host") is not None:
            if absent := [name for name in CLIENT if shutil.which(name) is None]:
                yield f"infer.host needs {' and '.join(absent)}\n  hint: {INSTALL}"
            continue
        for key, look in (("toolkit", _toolkit_problem), ("python", _python_problem)):
            path = options[key]
            if path not in told and (problem := look(stage, config)) is not None:
                told.add(path)
                yield problem


def _toolkit_problem(stage: str, config: Mapping[str, Any]) -> str | None:
    try:
        if stage == "convert":
            toolkit_for(config)
        else:
            root, arch = Path(config["options"]["toolkit"]), os.uname().machine
            find_toolkit(root, arch, f"{stage}.toolkit")
    except StageError as error:
        return str(error)
    return None


def _python_problem(stage: str, config: Mapping[str, Any]) -> str | None:
    python = config["options"]["python"]
    if os.path.isfile(python) and os.access(python, os.X_OK):
        return None
    what = "cannot be run" if os.path.lexists(python) else "is not there"
    return f"{stage}.python: {python} {what}\n  hint: {PYTHONS[stage]}"


def toolkit_for(config: Mapping[str, Any]) -> Toolkit:
    """Return the toolkit that a `convert` slice names.

    Raises:
        StageError: there is none, or it is another CANN, or does not know the SoC.
    """
    toolkit = find_toolkit(Path(config["options"]["toolkit"]), os.uname().machine)
    _fits(toolkit, config["cann"], config["soc_version"])
    return toolkit


def _fits(toolkit: Toolkit, asked: str, soc: str) -> None:
    if not is_release(asked, toolkit.version):
        raise StageError(
            f"convert.cann is {asked!r}, and {toolkit.root} holds CANN {toolkit.version}",
            hint="correct convert.cann, or name another toolkit",
        )
    if toolkit.socs and soc not in toolkit.socs:
        raise StageError(
            f"convert.soc_version is {soc!r}, and {toolkit.root}, CANN {toolkit.version}, "
            "does not list it",
            hint=closest_or_all(soc, toolkit.socs),
        )
