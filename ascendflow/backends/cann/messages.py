"""ATC's printed output -> the errors in it, in whichever of its formats they are.

* up to 8.x: `E10001: ...`, perhaps `[PID: n] <time>` behind the code;
* newer: `[PID: n] <time> <Title>(E10001): ...`;
* inner errors: `EZ9999: Inner Error!`, and the text on the next line.

Lines `Possible Cause:`, `Solution:` and `TraceBack (most recent call last):` follow,
indented. Source: the runtime's `error_manager.cc`, and logs that users published. Whatever
bytes come, nothing here raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ascendflow.backends.cann.error_codes import meaning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUCCESS = "ATC run success, welcome to the next use."
FAILURE = "ATC run failed, Please check the detail log"

_CODE = r"([EW](?=[A-Z]*\d)[0-9A-Z]{5})"
_OLD = re.compile(_CODE + r":(.*)")
_NEW = re.compile(rf"\({_CODE}\):(.*)")
_OLDEST = re.compile(_CODE + r"(?=\[PID:)(.*)")
_STAMP = re.compile(r"\s*\[PID: ?\d+\]\s*(?:\d{4}-[\d:.-]+\s*)?")
_PARTS = (("Possible Cause:", "cause"), ("Solution:", "remedy"), ("TraceBack (", "trace"))
_INNER = re.compile(r"(?i)\s*(?:inner|internal) error!\s*")
_NOTHING = ("", "N/A", "NA")
LONGEST_LINE = 300
"""Characters that are shown of a line of another tool's."""


@dataclass(frozen=True)
class Reported:
    """An error as ATC printed it.

    Attributes:
        code: "E10001".
        text: what it says of this case.
        cause: its possible cause, or None.
        remedy: its solution, or None.
        operators: the operators that the text names, in its order.
        types: the operator types that it names, e.g. "ai.onnx::11::FindMax".
    """

    code: str
    text: str
    cause: str | None
    remedy: str | None
    operators: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def is_error(self) -> bool:
        """Whether it is no mere warning."""
        return self.code.startswith("E")


@dataclass(frozen=True)
class Diagnosis:
    """What is known of a failure.

    Attributes:
        code: the first error's, or None where ATC gave none.
        meaning: what went wrong, in our words.
        text: what ATC said of this case; "" if nothing.
        cause: its possible cause, or None.
        remedy: what to do next.
        operators: the operators it names.
        nodes: the nodes of the ONNX model that these came from.
    """

    code: str | None
    meaning: str
    text: str
    cause: str | None
    remedy: str
    operators: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


def reported(output: str) -> list[Reported]:
    """Return the errors and warnings of a log, in its order; an echo of one only once."""
    found: list[Reported] = []
    for code, lines in _blocks(output):
        each = _read(code, lines)
        if found and found[-1].code == code and _INNER.fullmatch(found[-1].text):
            found.pop()  # the line above only announced it
        if each not in found:
            found.append(each)
    return found


def diagnose(output: str, nodes: Mapping[str, str]) -> Diagnosis | None:
    """Say what went wrong, or None where the output says nothing of it.

    Args:
        output: all that ATC printed.
        nodes: name of each node of the ONNX model -> its operator type.
    """
    errors = reported(output)
    first = next((each for each in errors if each.is_error), None)
    root = _of_python(output)
    if first is None:
        return root or _without_code(output)
    if root is not None:  # what a code says of it leads astray: the operator, its types
        return replace(root, code=first.code)
    known = meaning(first.code)
    return Diagnosis(
        code=first.code,
        meaning=known.meaning,
        text=first.text,
        cause=first.cause,
        remedy=known.remedy if first.remedy is None else f"{known.remedy}; {first.remedy}",
        operators=first.operators,
        nodes=origins(first, nodes),
    )


def origins(error: Reported, nodes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ONNX nodes that an error's operators came from.

    Case 1: a node of that name. Case 2: ATC built the operator for a node, and its name
    begins with the node's. Case 3: no name is given, and nodes have the type that is.
    """
    named: list[str] = []
    for operator in error.operators:
        if operator in nodes:
            named.append(operator)
        else:
            longest = max(
                (name for name in nodes if name and operator.startswith(f"{name}_")),
                key=len,
                default=None,
            )
            named += [] if longest is None else [longest]
    if not error.operators:
        types = {kind.rpartition("::")[2] for kind in error.types}
        named += [name for name, kind in nodes.items() if kind in types]
    return tuple(dict.fromkeys(named))


def _blocks(output: str) -> Iterator[tuple[str, list[str]]]:
    """Cut the output at the lines that hold a code; what follows indented belongs to it."""
    code, lines = None, [""]
    for line in re.split(r"\r?\n", output):
        match = _OLD.match(line) or _NEW.search(line) or _OLDEST.match(line)
        if match is not None:
            if code is not None:
                yield code, lines
            code, lines = match[1], [match[2]]
        elif code is not None and line[:1].isspace():
            lines.append(line)
        elif code is not None:
            yield code, lines
            code, lines = None, [""]
    if code is not None:
        yield code, lines


def _read(code: str, lines: list[str]) -> Reported:
    parts: dict[str, list[str]] = {"text": [], "cause": [], "remedy": [], "trace": []}
    current = "text"
    for line in [_STAMP.sub("", lines[0], count=1), *lines[1:]]:
        stripped = line.strip()
        for label, part in _PARTS:
            if stripped.startswith(label):
                current, stripped = part, stripped.removeprefix(label).strip()
        parts[current].append(stripped)
    text, cause, remedy = (
        " ".join(filter(None, parts[part])) for part in ("text", "cause", "remedy")
    )
    return Reported(
        code,
        text,
        None if cause in _NOTHING else cause,
        None if remedy in _NOTHING else remedy,
        _operators(text),
        tuple(dict.fromkeys(_TYPE.findall(text))),
    )


_OPERATORS = (
    re.compile(r"\bOp \[([^\[\],]+), ?optype \["),  # no parser is registered
    re.compile(r"Failed to compile Op \[([^\[\]]+)\]"),
    re.compile(r"are found for \[([^\[\]]+)\]"),
    re.compile(r"(?i)\b(?:op|op_name|node|node_name|operator) ?\[([^\[\]]+)\]"),
)
"""How texts name operators; the first that fits holds."""

_TYPE = re.compile(r"(?i)\bop ?type:? \[?([\w.]+(?:::[\w.]*\w)*)")


def _operators(text: str) -> tuple[str, ...]:
    for pattern in _OPERATORS:
        names = [name for each in pattern.findall(text) for name in each.split(",")]
        if stripped := [name.strip() for name in names if name.strip()]:
            return tuple(dict.fromkeys(stripped))
    return ()


PYTHON: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"cannot pickle '?FrameLocalsProxy"),
        "convert.python is Python 3.13 or later, whose frames this CANN cannot pickle",
        "name an older python3 in convert.python: `ascendflow doctor` says up to which",
    ),
    (
        re.compile(r"\bnp\.float_\W|no attribute '?float_\b"),
        "convert.python has numpy 2, and this CANN uses what it removed",
        "install an older one there: python3 -m pip install 'numpy<2'",
    ),
)
"""What is wrong with the Python that compiles kernels -> (in our words, what to do)."""


def _of_python(output: str) -> Diagnosis | None:
    for pattern, said, remedy in PYTHON:
        if match := pattern.search(output):
            begin = output.rfind("\n", 0, match.start()) + 1
            line = output[begin : begin + LONGEST_LINE].lstrip().partition("\n")[0]
            return Diagnosis(None, said, line.rstrip(), None, remedy)
    return None


PLAIN: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"error while loading shared libraries: (libascend_hal\.so)\b"),
        "the library {0} of the driver is not found, nor its stand-in",
        "check that convert.toolkit holds <arch>-linux/devlib",
    ),
    (
        re.compile(r"error while loading shared libraries: ([\w.+-]+)"),
        "the library {0} is not found",
        "check the installation in `convert.toolkit`",
    ),
    (
        re.compile(r"unknown command line flag '([^']*)'"),
        "this CANN's ATC has no option {0}",
        "remove it from `convert`, or use a newer CANN",
    ),
    (
        re.compile(r"flag '--([^']*)' is missing its argument"),
        "the option {0} got no value",
        "give it one in `convert`",
    ),
    (
        re.compile(r"Non-option parameter: (\S*)"),
        "ATC took {0} for no option",
        "report it: ascendflow passes options only",
    ),
)
"""What is said without a code -> (in our words, what to do)."""


def _without_code(output: str) -> Diagnosis | None:
    for pattern, said, remedy in PLAIN:
        if match := pattern.search(output):
            return Diagnosis(None, said.format(match[1]), match[0], None, remedy)
    return None
