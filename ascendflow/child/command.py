"""How a stage's child is called: its command line and its whole environment."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PASSED_ON = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LANG", "SSH_AUTH_SOCK")
"""What a child gets from our environment, beside LC_*; none of it is in a key."""

THREAD_COUNTS = (
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def child_argv(spec: Path) -> list[str]:
    """Return the command that runs the stage described by `spec`.

    The working folder is not on its path (-P), text is UTF-8 whatever the locale, output
    is in the log even when it is killed (-u), and a crash leaves a stack in the log.
    """
    options = ["-P", "-u", "-X", "utf8", "-X", "faulthandler"]
    return [sys.executable, *options, "-m", "ascendflow.stages", str(spec)]


def child_environment(extra: Mapping[str, str], *, threads: int) -> dict[str, str]:
    """Return a child's whole environment: an allow-list of ours, thread counts, `extra`.

    Args:
        extra: what the manifest names; goes before everything else.
        threads: for the native libraries' thread pools.
    """
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("LC_")
    }
    environment = {
        **passed,
        **dict.fromkeys(THREAD_COUNTS, str(threads)),
        "PYTHONHASHSEED": "0",
        **extra,
    }
    checkout = Path(__file__).resolve().parents[2]
    installed = {
        Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")
    }
    if checkout not in installed:
        paths = [str(checkout), *filter(None, [extra.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment
