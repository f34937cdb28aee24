"""The environment that ATC runs in: made of the toolkit's own and `convert.python` alone.

ATC compiles kernels with the `python3` that it finds, so nothing of ours may be found:
PATH and PYTHONPATH are built anew, PYTHONHOME and VIRTUAL_ENV are not there. Whatever else
ATC or its children read is either set here or named in the manifest's `environment`.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ascendflow.backends.cann.set_env import read_set_env
from ascendflow.backends.cann.toolkit import has_driver
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.backends.cann.toolkit import Toolkit

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")

KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "USER")
"""Of this process's environment: who runs it, and where it may write."""

FROM_MANIFEST = (
    "TE_PARALLEL_COMPILER",
    "MULTI_THREAD_COMPILE",
    "ASCEND_CUSTOM_OPP_PATH",
    "OP_NO_REUSE_MEM",
    "NPU_COLLECT_PATH",
    "DUMP_GE_GRAPH",
    "DUMP_GRAPH_LEVEL",
    "ASCEND_GLOBAL_LOG_LEVEL",
    "ASCEND_GLOBAL_EVENT_ENABLE",
    "ASCEND_MODULE_LOG_LEVEL",
    "ASCEND_SLOG_PRINT_TO_STDOUT",
    "ASCEND_LOG_PRINT_TO_STDOUT",
    "ASCEND_HOST_LOG_FILE_NUM",
)
"""What a manifest's `environment` may set for ATC. Sources: GE documents of ATC, and the
runtime's `docs/zh/env_vars`."""

ONE_AT_A_TIME = {"TE_PARALLEL_COMPILER": "1"}
"""Kernels compiled one after the other come in the same order each time."""

OURS = ("PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONSTARTUP")
"""What would make another python of ATC's; a set_env.sh that sets one is not CANN's."""


def environment(  # noqa: PLR0913  all by name
    exported: Mapping[str, str],
    *,
    python: str,
    toolkit: str,
    arch: str,
    has_driver: bool,
    work: str,
    around: Mapping[str, str],
) -> dict[str, str]:
    """Build ATC's environment.

    Args:
        exported: what the toolkit's set_env.sh exports (`set_env.read_set_env`).
        python: `convert.python`, absolute.
        toolkit: `convert.toolkit`, absolute.
        arch: the machine, as `arch` says it.
        has_driver: whether the Ascend driver is installed.
        work: a folder of this run's own, absolute: caches and logs lie there.
        around: this process's environment, of which a few names are kept.

    Raises:
        StageError: set_env.sh sets what would give ATC another python.
    """
    if strays := [name for name in OURS if exported.get(name)]:
        raise StageError(
            f"set_env.sh sets {', '.join(strays)}, which would change ATC's python",
            hint="take it out: convert.python says which one to use",
        )
    home = str(PurePosixPath(python).parent)
    libraries = [exported.get("LD_LIBRARY_PATH", "")]
    if not has_driver:
        libraries.append(f"{toolkit}/{arch}-linux/devlib")
    return {
        **{name: around[name] for name in KEPT if name in around},
        **exported,
        **ONE_AT_A_TIME,
        **{name: around[name] for name in FROM_MANIFEST if name in around},
        "PATH": _joined(home, exported.get("PATH", ""), *SYSTEM_PATH),
        "LD_LIBRARY_PATH": _joined(*libraries),
        "PYTHONDONTWRITEBYTECODE": "1",  # the toolkit's folder is not ours to write in
        "ASCEND_CACHE_PATH": f"{work}/cache",
        "ASCEND_WORK_PATH": f"{work}/work",
        "ASCEND_PROCESS_LOG_PATH": f"{work}/log",
    }


def environment_of(toolkit: Toolkit, python: str, work: Path) -> dict[str, str]:
    """Build the environment of a toolkit that is installed on this machine."""
    driver = has_driver()
    exported = read_set_env(
        toolkit.set_env.read_text(encoding="utf-8", errors="replace"),
        file=str(toolkit.set_env),
        folder=str(toolkit.set_env.resolve().parent),
        arch=toolkit.arch,
        has_driver=driver,
    )
    return environment(
        exported,
        python=python,
        toolkit=str(toolkit.root),
        arch=toolkit.arch,
        has_driver=driver,
        work=str(work.resolve()),
        around=os.environ,
    )


def with_own_home(around: Mapping[str, str], work: str) -> dict[str, str]:
    """Give ATC a home that is empty.

    In the user's lie banks of tuned kernels (`Ascend/latest/data/aoe`) and caches that ATC
    would take unasked, and that no key has. What pip put there for the Python stays found.

    Args:
        around: the environment otherwise.
        work: the run's own folder, absolute; holds the folder `home`.
    """
    home = around.get("HOME")
    site = {} if home is None else {"PYTHONUSERBASE": f"{home}/.local"}
    return {**around, **site, "HOME": f"{work}/home"}


def _joined(*lists: str) -> str:
    """Join lists of folders, each folder once, in the order of its first place."""
    folders = [folder for each in lists for folder in each.split(":") if folder]
    return ":".join(dict.fromkeys(folders))
