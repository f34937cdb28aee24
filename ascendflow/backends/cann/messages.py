"""ATC's printed output -> the errors in it, in whichever of its formats they are.

* up to 8.x: `E10001: ...`, perhaps `[PID: n] <time>` behind the code;
* newer: `[PID: n] <time> <Title>(E10001): ...`;
* inner errors: `EZ9999: Inner Error!`, and the text on the next line, perhaps behind the
  code and no colon.

Lines `Possible Cause:`, `Solution:` and `TraceBack (most recent call last):` follow,
indented; a Python's error in brackets is not. Source: the runtime's `error_manager.cc`,
and logs that users published. Whatever bytes come, nothing here raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.backends.cann.error_codes import meaning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUCCESS = "ATC run success, welcome to the next use."
FAILURE = "ATC run failed, Please check the detail log"

_CODE = r"([EW](?=[A-Z]*\d)[0-9A-Z]{5})"
_OLD = re.compile(_CODE + r":(.*)")
_NEW = re.compile(rf"\({_CODE}\):(.*)")
_OLDEST = re.compile(_CODE + r"(?=\[PID:|\s)(.*)")
_STAMP = re.compile(r"\s*\[PID: ?\d+\]\s*(?:\d{4}-[\d:.-]+\s*)?")
_PARTS = (("Possible Cause:", "cause"), ("Solution:", "remedy"), ("TraceBack (", "trace"))
_INNER = re.compile(r"(?i)\s*(?:inner|internal) error!\s*")
_NOTHING = ("", "N/A", "NA")
LONGEST_QUOTE = 50
"""Lines of a text in brackets that are taken to belong to it."""
LACKS_MODULE = (
    "`ascendflow doctor` says what convert.python needs, and how to install it; tbe and te"
    " are CANN's own"
)
"""PyPI may have something else by a module's name, so that no command is made of it."""
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
    root = _first_of(OF_PYTHON, output)
    if first is None:
        return root or _first_of(OF_ATC, output)
    if root is not None:  # what a code says of it leads astray: the operator, its types
        return replace(root, code=first.code)
    known = meaning(first.code)
    remedy = LACKS_MODULE if "No module named" in first.text else known.remedy
    return Diagnosis(
        code=first.code,
        meaning=known.meaning,
        text=first.text,
        cause=first.cause,
        remedy=remedy if first.remedy is None else f"{remedy}; {first.remedy}",
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
        elif code is not None and (line[:1].isspace() or _is_open(lines)):
            lines.append(line)
        elif code is not None:
            yield code, lines
            code, lines = None, [""]
    if code is not None:
        yield code, lines


def _is_open(lines: list[str]) -> bool:
    """Whether a text that is quoted in brackets goes on: another tool's of a few lines."""
    text = "".join(lines) if len(lines) < LONGEST_QUOTE else ""
    return text.count("[") > text.count("]")


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
        _operators(text) or _operators(" ".join(parts["trace"])),
        tuple(dict.fromkeys(_TYPE.findall(text))),
    )


_OPERATORS = (
    re.compile(r"\bOp \[([^\[\],]+), ?optype \["),  # no parser is registered
    re.compile(r"Failed to compile Op \[([^\[\]]+)\]"),
    re.compile(r"are found for \[([^\[\]]+)\]"),
    re.compile(r"(?i)\b(?:op|op_name|node|node_name|operator) ?\[([^\[\]]+)\]"),
    re.compile(r"\bnode:([^\s()\[\]]{1,500}) ?\(\w+\) failed"),
    re.compile(r"\bVerifying ([^\s()\[\]]{1,500}?)(?:\(\w+\))? failed"),
)
"""How texts name operators; the first that fits holds."""

_TYPE = re.compile(r"(?i)\bop ?type:? \[?([\w.]+(?:::[\w.]*\w)*)")


def _operators(text: str) -> tuple[str, ...]:
    for pattern in _OPERATORS:
        names = [name for each in pattern.findall(text) for name in each.split(",")]
        if stripped := [name.strip() for name in names if name.strip()]:
            return tuple(dict.fromkeys(stripped))
    return ()


class Sign(NamedTuple):
    """What a line without a code tells.

    Attributes:
        pattern: what the line holds.
        meaning: what went wrong, in our words; "{0}" is what the pattern's group holds.
        remedy: what to do next.
    """

    pattern: re.Pattern[str]
    meaning: str
    remedy: str


OF_PYTHON = (
    Sign(
        re.compile(r"cannot pickle '?FrameLocalsProxy"),
        "convert.python is Python 3.13 or later, whose frames this CANN cannot pickle",
        "name an older python3 in convert.python: `ascendflow doctor` says up to which",
    ),
    Sign(
        re.compile(r"\bnp\.float_\W|no attribute '?float_\b"),
        "convert.python has numpy 2, and this CANN uses what it removed",
        "install an older one there: `ascendflow doctor` says which this CANN takes",
    ),
)
"""What is wrong with the Python that compiles kernels; it goes before what a code says."""

OF_ATC = (
    Sign(
        re.compile(r"error while loading shared libraries: (libascend_hal\.so)\b"),
        "the library {0} of the driver is not found, nor its stand-in",
        "check that convert.toolkit holds <arch>-linux/devlib",
    ),
    Sign(
        re.compile(r"error while loading shared libraries: ([\w.+-]+)"),
        "the library {0} is not found",
        "check the installation in `convert.toolkit`",
    ),
    Sign(
        re.compile(r"unknown command line flag '([^']*)'"),
        "this CANN's ATC has no option {0}",
        "remove it from `convert`, or use a newer CANN",
    ),
    Sign(
        re.compile(r"flag '--([^']*)' is missing its argument"),
        "the option {0} got no value",
        "give it one in `convert`",
    ),
    Sign(
        re.compile(r"Non-option parameter: (\S*)"),
        "ATC took {0} for no option",
        "report it: ascendflow passes options only",
    ),
)
"""What keeps ATC from looking at the model."""


def _first_of(signs: tuple[Sign, ...], output: str) -> Diagnosis | None:
    """Return what the first sign that is there tells, with the line that holds it."""
    for sign in signs:
        if match := sign.pattern.search(output):
            begin = output.rfind("\n", 0, match.start()) + 1
            line = output[begin : begin + LONGEST_LINE].lstrip().partition("\n")[0]
            meaning = sign.meaning.format(*match.groups())
            return Diagnosis(None, meaning, line.rstrip(), None, sign.remedy)
    return None
