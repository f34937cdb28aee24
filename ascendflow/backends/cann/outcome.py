"""Whether ATC made a model: judged by all that it leaves, never by its word alone.

Success is exit 0, the success line without the failure line, exactly the file that was
asked for, and an OM that is whole. Sources: GE `api/atc/main_impl.cc` (lines, exit codes),
`base/common/helper/model_helper.cc` (names of files).
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.backends.cann.messages import FAILURE, SUCCESS, diagnose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ascendflow.backends.cann.messages import Diagnosis
    from ascendflow.process import ExitStatus

SHELL_SIGNAL = 128
"""`atc` is a shell script: a signal that killed the compiler is its status minus this."""

CRASHES = "NonMaxSuppression"
"""An operator that ATC was seen to crash on without a word."""

OS_AND_CPU = ("linux", "minios"), ("x86_64", "aarch64", "arm64", "arm")


@dataclass(frozen=True)
class Expected:
    """The file that ATC was asked for.

    Attributes:
        stem: its name without suffix.
        is_dynamic: whether the model is of dynamic shape, which puts the host in the name.
        host: (os, cpu) where the manifest names them, each else None.
        suffix: ".om", or ".exeom" in mode 30.
    """

    stem: str
    is_dynamic: bool = False
    host: tuple[str | None, str | None] = (None, None)
    suffix: str = ".om"

    def names(self) -> tuple[str, ...]:
        """Return the names that it may have."""
        if not self.is_dynamic:
            return (f"{self.stem}{self.suffix}",)
        systems, processors = (
            known if asked is None else (asked,)
            for asked, known in zip(self.host, OS_AND_CPU, strict=True)
        )
        return tuple(
            f"{self.stem}_{os}_{cpu}{self.suffix}" for os in systems for cpu in processors
        )


@dataclass(frozen=True)
class Failure:
    """No model, and why.

    Attributes:
        message: what happened, on one line or a few: ATC's code, the operators, the nodes.
        hint: what to do next.
    """

    message: str
    hint: str


def outcome(  # noqa: PLR0913  the last two by name
    status: ExitStatus,
    output: str,
    made: Sequence[Path],
    expected: Expected,
    *,
    nodes: Callable[[], Mapping[str, str]],
    om_problem: Callable[[Path], str | None],
) -> Path | Failure:
    """Return the model that ATC made, or why there is none.

    Args:
        status: how ATC's process ended.
        output: all that it printed.
        made: the files in the output folder.
        expected: what was asked for.
        nodes: gives the name of each node of the ONNX model -> its operator type; called
            only where there is something to trace to one.
        om_problem: says what is wrong with an OM, or None.
    """
    if status.reason is not None:
        hint = "raise limits in the manifest, or read how far it got in the log"
        return Failure(f"atc {status.explanation}", hint)
    if (number := _signal(status.returncode)) is not None:
        return _crashed(number, output, nodes())
    if status.returncode != 0 or FAILURE in output:
        return _refused(status.returncode, output, nodes())
    if SUCCESS not in output.splitlines():
        return _unsound("exited with 0 and does not say that it succeeded")
    return _model(made, expected, om_problem)


def _signal(returncode: int) -> int | None:
    if returncode < 0:
        return -returncode
    number = returncode - SHELL_SIGNAL
    return number if 0 < number < signal.NSIG else None


def _crashed(number: int, output: str, nodes: Mapping[str, str]) -> Failure:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "a signal"
    if number == signal.SIGKILL:
        hint = "the system may have run out of memory: free some, and build again"
    else:
        suspects = [node for node, kind in nodes.items() if kind == CRASHES]
        hint = "a crash says nothing of the model; look for a node that others met it with:"
        hint += " `ascendflow lint`"
        if suspects:
            hint += f", and cut the model before {CRASHES} {', '.join(suspects)}"
    lines = [f"atc was killed by {name} (signal {number})"]
    if (said := diagnose(output, nodes)) is not None:
        lines += [f"before that: {_coded(said)}", *_details(said)]
    return Failure("\n  ".join(lines), hint)


def _refused(returncode: int, output: str, nodes: Mapping[str, str]) -> Failure:
    said = diagnose(output, nodes)
    if said is None:
        text = f"atc failed with status {returncode} and gave no reason"
        return Failure(text, "set `log: debug` in `convert` to learn more")
    lines = [f"atc refused the model: {_coded(said)}", *_details(said)]
    return Failure("\n  ".join(lines), said.remedy)


def _coded(said: Diagnosis) -> str:
    return said.meaning if said.code is None else f"{said.code}: {said.meaning}"


def _details(said: Diagnosis) -> Iterator[str]:
    if said.text:
        yield f"it says: {said.text}"
    if said.cause is not None:
        yield f"possible cause: {said.cause}"
    if said.nodes:
        yield f"ONNX nodes: {', '.join(said.nodes)}"
    elif said.operators:
        yield f"operators: {', '.join(said.operators)}"


def _model(
    made: Sequence[Path],
    expected: Expected,
    om_problem: Callable[[Path], str | None],
) -> Path | Failure:
    models = [path for path in made if path.name.endswith(expected.suffix)]
    names = expected.names()
    wanted = [path for path in models if path.name in names]
    others = sorted(path.name for path in models if path.name not in names)
    if len(wanted) != 1 or others:
        there = ", ".join(sorted(path.name for path in models)) or "no model"
        text = f"says that it succeeded and left {there}, not {' or '.join(names[:2])}"
        if others and not expected.is_dynamic:
            text += "; a host in the name means a model of dynamic shape, unasked"
        return _unsound(text)
    if (problem := om_problem(wanted[0])) is not None:
        return _unsound(f"says that it succeeded, and {wanted[0].name}: {problem}")
    return wanted[0]


def _unsound(text: str) -> Failure:
    hint = "build again; if it stays so, check the disk, and the log"
    return Failure(f"atc {text}", hint)
