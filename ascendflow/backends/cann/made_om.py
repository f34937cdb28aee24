"""What an OM says of itself: whether it is whole, and made by the toolkit that was run.

Source: GE `main_impl.cc`, `model_helper.cc`: `atc_version` is of the compiler's
version.info, `opp_version` of the operators', `soc_version` the option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError, ToolFailedError
from ascendflow.om.inspection import inspect_om

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.backends.cann.toolkit import Toolkit
    from ascendflow.documents.conversion import MadeOm


def om_problem(path: Path) -> str | None:
    """Say what is wrong with a file, of which neither weights nor kernels are read."""
    try:
        inspect_om(path, digests=False)
    except StageError as error:
        return error.message.removeprefix(f"{path}: ")
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return None


def made_om(path: Path) -> MadeOm:
    """Return what a whole OM says of itself; null where it does not say.

    Raises:
        StageError: it is no OM, or not a whole one.
    """
    found = inspect_om(path)
    contents, raw, normalised = found["om"], found["sha256"], found["normalised_sha256"]
    if contents is None or raw is None or normalised is None:
        raise StageError(f"{path}: is no OM")
    return {
        "file": path.name,
        "sha256": raw,
        "normalised_sha256": normalised,
        "atc_version": contents["atc_version"] or None,
        "opp_version": contents["opp_version"] or None,
        "soc_version": contents["soc_version"] or None,
        "atc_cmdline": contents["atc_command_line"] or None,
    }


def refuse_another(om: MadeOm, toolkit: Toolkit, soc: str) -> None:
    """Refuse an OM that says it was made by another toolkit, or for another SoC.

    Which package's version ATC writes depends on where its library lies
    (`ge_generator.cc`), so any that the toolkit has will do.

    Args:
        om: what it says.
        toolkit: the one that was run.
        soc: the `soc_version` that was asked for.

    Raises:
        ToolFailedError: tells each difference with both values.
    """
    different = [
        f"{name} {said!r}, and the toolkit's {package} is "
        f"{toolkit.versions.get(package, 'of no known version')!r}"
        for name, said, package in (
            ("atc_version", om["atc_version"], "compiler"),
            ("opp_version", om["opp_version"], "opp"),
        )
        if said is not None and toolkit.all_versions and said not in toolkit.all_versions
    ]
    if om["soc_version"] not in (None, soc):
        said = om["soc_version"]
        different.append(f"soc_version {said!r}, and convert.soc_version is {soc!r}")
    if different:
        raise ToolFailedError(
            f"convert: {om['file']} is of another toolkit than the one that was run: it "
            f"says {'; it says '.join(different)}",
            hint="look which CANN set_env.sh of convert.toolkit leads to; its packages "
            "must be of one release",
        )
