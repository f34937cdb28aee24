"""What the one OM of a model's folder says of itself, before a device is asked to load it.

Source: GE `model_helper.cc`: an OM of dynamic shape says so in its header, and names the
host that it was packed for in `host_env_cpu`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.errors import StageError
from ascendflow.om.inspection import inspect_om

if TYPE_CHECKING:
    from pathlib import Path

SMALL_CHIPS = ".exeom"
BUILD = "convert made something else: `doit convert:<model>` makes it again"
CPUS = ("x86_64", "aarch64")


class OwnWord(NamedTuple):
    """An OM by its own attributes; None where it does not say.

    Attributes:
        path: the file.
        soc_version: the SoC that it is compiled for.
        atc_version: the compiler's version, e.g. "7.7.0.1.238".
        opp_version: that of the operators that it is compiled with.
        is_dynamic: whether shapes are open up to when it runs.
        cpu: the host that it needs: x86_64 or aarch64.
    """

    path: Path
    soc_version: str | None
    atc_version: str | None
    opp_version: str | None
    is_dynamic: bool
    cpu: str | None


def own_word(model: Path) -> OwnWord:
    """Read the OM of a model's folder, but for weights and kernels.

    Raises:
        StageError: there is none, or several, or a file that is none, or one for a chip
            that runs no Linux.
    """
    path = _only_om(model)
    try:
        found = inspect_om(path, digests=False)["om"]
    except StageError as error:
        problem = error.message.removeprefix(f"{path}: ")
        raise StageError(f"infer: {path.name}: {problem}", hint=error.hint) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise StageError(f"infer: {path.name}: {problem}") from error
    if found is None:
        raise StageError(f"infer: {path.name}: is no OM", hint=BUILD)
    header = found["header"]
    cpu = found["models"][0]["attributes"].get("host_env_cpu")
    named = next((cpu for cpu in CPUS if path.name.endswith(f"_{cpu}.om")), None)
    is_held = bool(header["need_check_os_cpu_info"]) or named is not None
    return OwnWord(
        path,
        found["soc_version"] or None,
        found["atc_version"] or None,
        found["opp_version"] or None,
        bool(header["is_unknow_model"]),
        (str(cpu) if cpu else named) if is_held else None,
    )


def _only_om(model: Path) -> Path:
    found = sorted(model.glob("*.om"))
    if len(found) == 1:
        return found[0]
    if small := sorted(model.glob(f"*{SMALL_CHIPS}")):
        raise StageError(
            f"infer: {small[0].name} is for a chip that runs no Linux and no Python, so "
            "nothing here can run it",
            hint="build up to it with `doit convert:<model>`, and load it in the program "
            "that is linked for the chip; backend: emulator gives numbers meanwhile",
        )
    names = ", ".join(path.name for path in found) or "none"
    text = f"infer: {model.name}/ must hold one OM, holds {names}"
    raise StageError(text, hint=BUILD)
