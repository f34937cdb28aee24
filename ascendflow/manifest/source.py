"""YAML text -> plain data, with the line of every key.

Strict YAML 1.2 by ruamel.yaml's parser; values are built here, since its own constructor
keeps no lines for what it makes, and stops at the first problem.
"""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.problems import Keys, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

MAX_BYTES = 256 * 1024
MAX_DEPTH = 50
MAX_VALUES = 20_000
"""Beyond these a file is no manifest, but a mistake or an attack (nested aliases)."""
TAG = "tag:yaml.org,2002:"


@dataclass
class Source:
    """A manifest as written.

    Attributes:
        data: plain JSON data; what could not be read is left out, and is in `problems`.
        lines: way to a value -> line of its key, 1-based.
        written: way to a number -> its text, since 8.10 is not 8.1 to a reader.
        problems: what is wrong with the text itself.
    """

    data: Any = None
    lines: dict[Keys, int] = field(default_factory=dict)
    written: dict[Keys, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, keys: Keys) -> int:
        """Return the line of a value, or of the nearest thing that holds it."""
        return nearest_line(self.lines, keys)


def nearest_line(lines: Mapping[Keys, int], keys: Keys) -> int:
    """Return the line of a value, or of the nearest thing that holds it."""
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys, 1)


def parse(content: bytes) -> Source:
    """Read YAML 1.2. Never raises: whatever is wrong is in the result's problems."""
    source = Source()
    text = _text(content, source)
    root = _compose(text, source) if text is not None else None
    if root is not None:
        try:
            source.data = _Builder(source).build(root, ())
        except _TooMuchError as error:
            source.problems.append(error.problem)
        except RecursionError:
            source.problems.append(Problem((), "is nested too deeply"))
    elif not source.problems:
        hint = "start with schema_version: 1; `ascendflow init MODEL` writes a whole one"
        source.problems.append(Problem((), "is empty", hint))
    return source


def _text(content: bytes, source: Source) -> str | None:
    """Decode, and refuse what would change the language itself."""
    if len(content) > MAX_BYTES:
        source.problems.append(Problem((), f"is larger than {MAX_BYTES // 1024} KiB"))
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        bad = f"is not UTF-8: byte 0x{content[error.start]:02x}"
        source.problems.append(Problem((), bad, "save the file as UTF-8", line))
        return None
    for number, start in enumerate(text.splitlines(), 1):
        if start.startswith("%"):
            hint = "remove the line; a manifest is YAML 1.2"
            source.problems.append(Problem((), "holds a YAML directive", hint, number))
            return None
        if start.strip() and not start.startswith("#"):
            break
    return text


def _compose(text: str, source: Source) -> Node | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import MaxDepthExceededError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        with warnings.catch_warnings():
            # An anchor may be set again in YAML 1.2; ruamel warns.
            warnings.simplefilter("ignore")
            yaml = YAML(typ="rt", pure=True)
            yaml.max_depth = MAX_DEPTH  # to compose deeper ones takes quadratic time
            root: Node | None = yaml.compose(text)
    except MaxDepthExceededError as error:
        line = error.problem_mark.line + 1
        source.problems.append(Problem((), "is nested too deeply", None, line))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        words = f"{error.problem or error.context}"
        if words.startswith("but "):
            words = f"{error.context} {words}"
        what = " ".join(words.split())
        if error.context_mark is not None and (where := _opened(error.context)):
            what += f", {where} of line {error.context_mark.line + 1}"
        hint = "indent with spaces, not tabs" if "'\\t'" in what else None
        source.problems.append(Problem((), f"is not valid YAML: {what}", hint, line))
    except (YAMLError, ValueError, OverflowError) as error:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 1
        what = " ".join(str(getattr(error, "reason", error)).split())
        source.problems.append(Problem((), f"is not valid YAML: {what}", None, line))
    else:
        return root
    return None


def _opened(context: str | None) -> str | None:
    """Name what was opened and not closed, of the parser's words for it."""
    words = {"flow mapping": "in the {", "flow sequence": "in the ["}
    return next((words[kind] for kind in words if kind in (context or "")), None)


class _TooMuchError(Exception):
    """Building stops here: aliases multiply, or hold themselves."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


class _Builder:
    """Builds plain data from nodes, noting lines and problems on the way."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._open: set[int] = set()
        self._values = 0

    def build(self, node: Node, keys: Keys) -> Any:
        """Return the value of `node`; None where it is refused."""
        from ruamel.yaml.nodes import MappingNode, ScalarNode

        self._count(node, keys)
        line = node.start_mark.line + 1
        self._source.lines.setdefault(keys, line)
        if isinstance(node, ScalarNode):
            return self._scalar(node, keys)
        kind = "map" if isinstance(node, MappingNode) else "seq"
        if str(node.tag) != TAG + kind:
            self._refuse(keys, f"has the tag {node.tag}", line, "manifests are plain data")
            return None
        with self._inside(node):
            if isinstance(node, MappingNode):
                return self._mapping(node, keys)
            return [self.build(each, (*keys, i)) for i, each in enumerate(node.value)]

    def _count(self, node: Node, keys: Keys) -> None:
        line = node.start_mark.line + 1
        self._values += 1
        if self._values > MAX_VALUES:
            raise _TooMuchError(
                Problem((), f"holds more than {MAX_VALUES} values", None, line)
            )
        if id(node) in self._open:
            raise _TooMuchError(Problem(keys, "is an alias of what holds it", None, line))

    def _refuse(self, keys: Keys, text: str, line: int, hint: str | None = None) -> None:
        self._source.problems.append(Problem(keys, text, hint, line))

    def _mapping(self, node: MappingNode, keys: Keys) -> dict[str, Any]:
        value = {}
        for key, (line, value_node) in self._pairs(node, keys).items():
            self._source.lines[*keys, key] = line
            value[key] = self.build(value_node, (*keys, key))
        return value

    def _pairs(self, node: MappingNode, keys: Keys) -> dict[str, tuple[int, Node]]:
        """Return key -> its line and value; of `<<: *anchor`, what is not there already."""
        own: dict[str, tuple[int, Node]] = {}
        inherited: dict[str, tuple[int, Node]] = {}
        merged: list[MappingNode] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if str(key_node.tag) == TAG + "merge":
                merged += self._merged(value_node, keys, line)
            elif (key := self._key(key_node, keys)) is None:
                continue
            elif key in own:
                twice = f"is given twice, first on line {own[key][0]}"
                self._refuse((*keys, key), twice, line)
            else:
                own[key] = (line, value_node)
        for each in merged:
            self._count(each, keys)
            with self._inside(each):
                pairs = self._pairs(each, keys)
            inherited |= pairs
        return {**inherited, **own}

    def _key(self, node: Node, keys: Keys) -> str | None:
        from ruamel.yaml.nodes import ScalarNode

        line = node.start_mark.line + 1
        if not isinstance(node, ScalarNode):
            self._refuse(keys, "has a key that is no text", line)
            return None
        if str(node.tag) != TAG + "str":
            hint = f'quote it: "{node.value}"' if node.value else None
            self._refuse(keys, f"has a key that is no text: {node.value}", line, hint)
            return None
        return self._string(node, keys)

    def _merged(self, node: Node, keys: Keys, line: int) -> list[MappingNode]:
        """Return the mappings that a `<<` names; the first of a list wins."""
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        nodes = node.value if isinstance(node, SequenceNode) else [node]
        if any(not isinstance(each, MappingNode) for each in nodes):
            self._refuse(keys, "merges what is no mapping (<<)", line)
        return [each for each in reversed(nodes) if isinstance(each, MappingNode)]

    @contextmanager
    def _inside(self, node: Node) -> Iterator[None]:
        self._open.add(id(node))
        yield
        self._open.discard(id(node))

    def _scalar(self, node: ScalarNode, keys: Keys) -> Any:
        kind = str(node.tag).removeprefix(TAG)
        text = str(node.value)
        line = node.start_mark.line + 1
        if kind in ("str", "timestamp", "merge"):  # YAML 1.2 has no dates
            return self._string(node, keys)
        if kind == "null":
            return None
        try:
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            if kind in ("int", "float"):
                self._source.written[keys] = text
                return _number(kind, text)
        except (ValueError, KeyError):
            self._refuse(keys, f"must be a finite number, got {text[:60]}", line)
            return None
        self._refuse(keys, f"has the tag {node.tag}", line, "manifests are plain data")
        return None

    def _string(self, node: ScalarNode, keys: Keys) -> str | None:
        text = str(node.value)
        try:
            text.encode()
        except UnicodeEncodeError:
            self._refuse(keys, "holds half a character", node.start_mark.line + 1)
            return None
        return text


def _number(kind: str, text: str) -> int | float:
    """Read a YAML 1.2 number.

    Raises:
        ValueError: it is none, not finite, or has thousands of digits.
    """
    plain = text.replace("_", "").lower()
    if kind == "float":
        value = float(plain)
        if not math.isfinite(value):
            raise ValueError(text)
        return value
    base = {"0x": 16, "0o": 8, "0b": 2}.get(plain.lstrip("+-")[:2], 10)
    return int(plain, base)
