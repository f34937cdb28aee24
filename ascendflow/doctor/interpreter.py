"""The python3 that atc and ais_bench will use, asked in a process of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.toolkit_layout import LONGEST

if TYPE_CHECKING:
    from ascendflow.doctor.machine import Machine, Ran

OPTION = "--python"
ON_PATH = "first python3 on PATH that is not ascendflow's own"
MARK = "ascendflow-doctor "

BENCH = ("ais_bench", "aclruntime")
PROBE = "mindstudio-probe"
NOT_PROBE = "msprobe"
"""On PyPI a scanner of servers, which has nothing to do with Ascend."""
FOR_KERNELS = (
    *("decorator", "sympy", "cffi", "attrs", "cython", "pyyaml", "pathlib2", "protobuf"),
    *("scipy", "requests", "psutil", "absl-py"),
)
"""What CANN's installation guides (8.0 to 9.1) want beside numpy."""
PACKAGES = ("numpy", *BENCH, PROBE, NOT_PROBE, *FOR_KERNELS)

QUESTION = """
import json, platform, sys
try:
    from importlib.metadata import version
except ImportError:
    version = None
def ask(name):
    try:
        if version is not None:
            return version(name)
        import pkg_resources
        return pkg_resources.get_distribution(name).version
    except Exception:
        return None
packages = dict((name, ask(name)) for name in sys.argv[2:])
broken = ""
try:
    import numpy
    packages["numpy"] = numpy.__version__
except Exception as error:
    if packages.get("numpy") is not None:
        broken = str(error) or "it cannot be imported"
try:
    from importlib.util import find_spec
    ours = find_spec("ascendflow") is not None
except Exception:
    ours = False
answer = {
    "python": ".".join(map(str, sys.version_info[:3])),
    "prefix": sys.prefix,
    "machine": platform.machine(),
    "packages": packages,
    "broken": broken,
    "ours": ours,
}
print("\\n" + sys.argv[1] + json.dumps(answer))
"""
"""Runs on every Python there may be, so in the words that all of them know."""


@dataclass(frozen=True)
class Interpreter:
    """A Python, or why there is no answer from it.

    Attributes:
        executable: its path; "" where none was found.
        found_by: the option that named it, or `ON_PATH`.
        problem: why nothing more is known, or None.
        python: "3.11.4".
        prefix: its `sys.prefix`.
        machine: x86_64 or aarch64.
        packages: name on PyPI -> version; None: not installed.
        ours: whether ascendflow can be imported there.
        broken: why numpy cannot be imported although it is installed, or "".
    """

    executable: str
    found_by: str
    problem: str | None = None
    python: str = ""
    prefix: str = ""
    machine: str = ""
    packages: dict[str, str | None] = field(default_factory=dict)
    ours: bool = False
    broken: str = ""


def ask_interpreter(machine: Machine, asked: str) -> Interpreter:
    """Find a Python and ask it.

    Args:
        machine: where to look.
        asked: the file that `--python` names, or "".
    """
    if not asked:
        own = f"{machine.prefix.rstrip('/')}/bin"
        folders = [folder for folder in machine.path() if folder != own]
        found = machine.program("python3", folders)
        if found is None:
            return Interpreter("", ON_PATH, "there is no other python3 on PATH")
        return _asked(machine, found, ON_PATH)
    path = machine.absolute(asked)
    if not machine.is_program(path):
        there = machine.is_file(path)
        what = "may not be executed" if there else "is no file"
        return Interpreter(path, OPTION, what)
    return _asked(machine, path, OPTION)


def _asked(machine: Machine, path: str, found_by: str) -> Interpreter:
    ran = machine.ask([path, "-c", QUESTION, MARK, *PACKAGES])
    answer = answered(ran)
    if answer is None:
        return Interpreter(path, found_by, _why(ran))
    return Interpreter(path, found_by, **answer)


def _why(ran: Ran) -> str:
    last = next((line for line in reversed(ran.output.split("\n")) if line.strip()), "")
    said = f": {last.strip()[:200]}" if last else ""
    return f"{ran.problem or 'did not answer as a Python does'}{said}"


def answered(ran: Ran) -> dict[str, Any] | None:
    """Return what a Python said of itself; None for anything else."""
    lines = [line for line in ran.output.split("\n") if line.startswith(MARK)]
    if ran.problem is not None or not lines:
        return None
    try:
        answer = json.loads(lines[-1].removeprefix(MARK))
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("packages"), dict):
        return None
    texts = {key: answer.get(key) for key in ("python", "prefix", "machine", "broken")}
    if not all(isinstance(each, str) for each in texts.values()):
        return None
    found = answer["packages"]
    packages = {name: _version(found.get(name)) for name in PACKAGES}
    return {**texts, "ours": answer.get("ours") is True, "packages": packages}


def _version(said: object) -> str | None:
    return said[:LONGEST] if isinstance(said, str) else None
