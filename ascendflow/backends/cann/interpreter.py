"""The python3 that ATC will find: which one it is, and that it is not ours."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.backends.cann.needs import needs, numbers, numpy_spec, pip
from ascendflow.errors import StageError, ToolNotFoundError
from ascendflow.process import Limits, run_child, tail

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TIMEOUT_S = 60.0
CODE = """
import importlib.util, json, sys
try:
    import numpy
    version = numpy.__version__
except ImportError:
    version = None
ours = importlib.util.find_spec("ascendflow") is not None
print(json.dumps([sys.version.split()[0], version, sys.prefix, ours]))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python, by its version and numpy's."""

    python: str
    numpy: str


def interpreter(
    environment: Mapping[str, str], work: Path, named: str, cann: str
) -> Interpreter:
    """Run the `python3` of an environment and ask it what it is.

    Args:
        environment: ATC's.
        work: a folder for the answer.
        named: the Python, as the manifest names it.
        cann: the toolkit's version.

    Raises:
        StageError: it does not run, has no numpy, or is ascendflow's own.
    """
    python, numpy, prefix, is_ours = _asked(environment, work)
    if is_ours or prefix == sys.prefix:
        raise StageError(
            f"convert.python is ascendflow's own, of {prefix}",
            hint="name the python3 that CANN was installed for",
        )
    if numpy is None:
        version, row = numbers(python), needs(cann)
        raise StageError(
            f"convert.python {python} has no numpy, which kernels' compilation needs",
            hint=f"{pip(named, version, row)} install 'numpy{numpy_spec(row, version)}'",
        )
    return Interpreter(python, numpy)


def _asked(environment: Mapping[str, str], work: Path) -> tuple[str, str | None, str, bool]:
    """Return its version and numpy's, its prefix, and whether it has ascendflow."""
    log = work / "python.log"
    try:
        status = run_child(
            ["/usr/bin/env", "python3", "-c", CODE],
            cwd=work,
            environment=environment,
            log=log,
            limits=Limits(timeout_s=TIMEOUT_S),
        )
    except ToolNotFoundError as error:
        raise StageError(f"convert.python: {error.message}") from error
    try:
        python, numpy, prefix, is_ours = json.loads(tail(log, 1))
    except (ValueError, TypeError) as error:
        said = tail(log, 3) or status.explanation
        raise StageError(
            f"convert.python does not run in ATC's environment: {said}",
            hint="ATC would not compile kernels; name another python3",
        ) from error
    return python, numpy, prefix, is_ours
