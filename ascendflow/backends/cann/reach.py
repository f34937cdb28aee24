"""Whether a board can be reached, asked before anything dear runs.

It may still be switched on before `infer` begins, so the answer is no more than a warning.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.ssh import Ssh
from ascendflow.errors import ToolFailedError, ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE_S = 10
LOOK = """exec /bin/sh -c 'IFS= read -r p && IFS= read -r t \
&& { test -x "$p" || exit 63; test -d "$t" || exit 64; }'"""
LACKS = {63: ("python", "program"), 64: ("toolkit", "folder")}


def out_of_reach(options: Mapping[str, Any]) -> str | None:
    """Return what keeps a board from running an OM now, with what to do, or None.

    Args:
        options: `infer` of the manifest, with a host.
    """
    asked = ("host", "ssh_config", "python", "toolkit")
    return _answer(*(options[key] for key in asked))


@cache  # of several models with one board it is asked once
def _answer(host: str, config: str | None, python: str, toolkit: str) -> str | None:
    with TemporaryDirectory(prefix="ascendflow-look-") as folder:
        ssh = Ssh(host, config, Path(folder), Path(folder))
        try:
            status = ssh.run(LOOK, [python, toolkit], timeout_s=PATIENCE_S)
        except ToolNotFoundError:  # `ready` tells it, with all else that is missing here
            return None
        except ToolFailedError as error:
            return str(error)
    if (lacks := LACKS.get(status.returncode)) is None:
        return None
    key, kind = lacks
    named = {"python": python, "toolkit": toolkit}[key]
    hint = f"correct infer.{key}, or install it there before infer begins"
    return f"infer.{key}: {named} is no {kind} on {host}\n  hint: {hint}"
