"""msaccucmp, the comparison tool inside msprobe: taken out of its wheel, never installed.

Its Python runs in processes of its own, which import nothing of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.wheels import UnavailableError, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUIRED = "ASCENDFLOW_MSACCUCMP"
"""Set to "required", as CI does, it forbids to go without."""
REQUIREMENT = (
    "mindstudio-probe==26.2.0 --hash=sha256:"
    "9540f8e9ac89d591359403d34f4604cbf37887da10344aab711c0abeccd26eb2"
)
HERE = Path(__file__).resolve().parent


def tool() -> Path:
    """Return the tool's folder; skip, or fail where it is required, if it cannot be had."""
    try:
        return unpacked(REQUIREMENT, "msprobe/msaccucmp/")
    except UnavailableError as error:
        if os.environ.get(REQUIRED) == "required":
            raise
        pytest.skip(f"{error}; {REQUIRED}=required makes that a failure")


def run(script: str, *arguments: object, environment: dict[str, str] | None = None) -> Any:
    """Run one of the scripts beside this file on the tool; return its last line's JSON."""
    command = [sys.executable, "-I", "-B", str(HERE / script), str(tool())]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | (environment or {}),
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def command(*arguments: object) -> tuple[int, str]:
    """Run `msaccucmp ARGUMENTS`; return its exit status and what it said."""
    said: Sequence[Any] = run("command.py", *arguments)
    return int(said[0]), str(said[1])
