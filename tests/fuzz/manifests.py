"""Manifests with something wrong, each made from its number alone."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fuzz import damage
from tests.fuzz.names import NAMES, NOT_UTF8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Change = Callable[["Node", random.Random], None]

VALID = sorted((Path(__file__).parents[1] / "manifests").glob("valid-*.yaml"))

RAW = (
    *("null", "~", "", "true", "yes", "No", "0x1F", "0o17", "1_000", "007", "1e-3", ".5"),
    *(".nan", ".inf", "-.inf", "1e400", "-1", "0", "3.7", "9" * 30, "9" * 5000, "-0.0"),
    *(
        "2001-01-01",
        "12:30:45",
        "!!int x",
        "!!float x",
        "!!bool 2",
        "!!binary x",
        "!!str 5",
    ),
    *("!!set {a}", "!!python/object:os.system {}", "!own x", "!!null x", "!!timestamp x"),
    *(
        "*gone",
        "&here 1",
        "&here [*here]",
        "{<<: *gone}",
        "{<<: [1, {a: 2}]}",
        "[*a, &a 1]",
    ),
    *("[]", "{}", "[[]]", "[[[1]]]", "{a: }", "{1: 2}", "{? [a] : b}", "{a: 1, a: 2}"),
    *(
        '"\\ud800"',
        '"\\x00"',
        '"\\u2028"',
        '"\\UFFFFFFFF"',
        "'",
        '"',
        "|",
        ">-",
        "@",
        "`",
        "%",
    ),
    *("- - - 1", "? 1", ": 1", "# 1", "--- 1", "... 1", "a: b: c", "[1", "{a: 1", "]", ","),
    *("[" * 60 + "]" * 60, "{a: " * 60 + "}" * 60, "[" * 3000, "x" * 70_000),
)
"""Values as YAML spells them; some end the document, or spoil it."""
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 2**64, 1.5, -0.0, 1e308, "", " ", "a", "1"),
    *([], {}, [1, 2, 3], ["a"], [None], {"a": 1}, {"": 0}, [[]], "../../etc/passwd"),
    *("data:x", "nope:x", ":x", "x:", "**/*", "../**", "[", "~/x", "\\x", "a\0b"),
    *(name for name in NAMES if name != NOT_UTF8),
)


@dataclass
class Raw:
    """Text that is written as it is."""

    text: str


@dataclass
class Node:
    """A mapping's or a list's items; a mapping may have a key twice."""

    is_mapping: bool
    items: list[tuple[Any, Any]]


def mutated(number: int) -> bytes:
    """Return mutated manifest number `number`; the same for the same number."""
    rng = random.Random(number)  # noqa: S311 - to be repeated
    tree = _tree(rng.choice(_loaded()))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3)) if number else 0):
        rng.choice(CHANGES)(tree, rng)
    lines = list(_spelled(tree, 0, rng))
    text = "\n".join(lines) + "\n"
    if not number:
        return text.encode()
    if rng.random() < 0.2:
        text = rng.choice(TEXTS)(text, rng)
    content = text.encode("utf-8", "surrogatepass").replace(NOT_UTF8.encode(), b"\xff\xfe")
    if rng.random() < 0.2:
        for _ in range(rng.choice((1, 1, 2, 4))):
            content = rng.choice(damage.ANY)(content, rng)
    return content


@cache
def _loaded() -> list[Any]:
    """Load what is valid once; `_tree` copies what it changes."""
    from ruamel.yaml import YAML

    return [YAML(typ="safe", pure=True).load(file) for file in VALID]


def _tree(data: Any) -> Any:
    if isinstance(data, dict):
        return Node(is_mapping=True, items=[(k, _tree(v)) for k, v in data.items()])
    if isinstance(data, list):
        return Node(is_mapping=False, items=[(None, _tree(each)) for each in data])
    return data


def _spelled(value: Any, depth: int, rng: random.Random) -> Iterator[str]:
    """Write a mapping or list as a block, or now and then in one line."""
    indent = "  " * depth
    if not isinstance(value, Node) or not value.items:
        yield indent + _flow(value)
        return
    for key, item in value.items:
        start = f"{indent}{_key(key)}:" if value.is_mapping else f"{indent}-"
        if isinstance(item, Node) and item.items and rng.random() < 0.6:
            yield start
            yield from _spelled(item, depth + 1, rng)
        else:
            yield f"{start} {_flow(item)}"


def _flow(value: Any) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, Node):
        if value.is_mapping:
            return f"{{{', '.join(f'{_key(k)}: {_flow(v)}' for k, v in value.items)}}}"
        return f"[{', '.join(_flow(each) for _, each in value.items)}]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _key(key: Any) -> str:
    if isinstance(key, Raw):
        return key.text
    return key if key.isidentifier() and key.isascii() else _quoted(key)


def _quoted(text: str) -> str:
    """Quote; of what may not stand in YAML as it is, only half is escaped."""
    spelled = json.dumps(text, ensure_ascii=len(text) % 2 == 0)
    return spelled.replace("\x7f", "\\x7f")


# Changes of the tree, in place.


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for _, item in node.items:
        if isinstance(item, Node):
            yield from _nodes(item)


def _any(tree: Node, rng: random.Random) -> tuple[Node, int]:
    """Choose an item, wherever it is."""
    places = [(node, at) for node in _nodes(tree) for at in range(len(node.items))]
    return rng.choice(places) if places else (tree, 0)


def _delete(tree: Node, rng: random.Random) -> None:
    node, at = _any(tree, rng)
    del node.items[at : at + 1]


def _double(tree: Node, rng: random.Random) -> None:
    node, at = _any(tree, rng)
    node.items[at:at] = node.items[at : at + 1]


def _move(tree: Node, rng: random.Random) -> None:
    """Take an item to another place; a copy, so that nothing holds itself."""
    node, at = _any(tree, rng)
    moved = node.items[at : at + 1]
    if rng.random() < 0.7:
        del node.items[at : at + 1]
    target = rng.choice(list(_nodes(tree)))
    for key, item in moved:
        given = key if key is not None else "moved"
        target.items.insert(
            rng.randrange(len(target.items) + 1),
            (given if target.is_mapping else None, _copied(item)),
        )


def _copied(value: Any) -> Any:
    if isinstance(value, Node):
        items = [(key, _copied(item)) for key, item in value.items]
        return Node(value.is_mapping, items)
    return value


def _value(tree: Node, rng: random.Random) -> None:
    node, at = _any(tree, rng)
    if node.items:
        node.items[at] = (node.items[at][0], _tree(rng.choice(VALUES)))


def _raw(tree: Node, rng: random.Random) -> None:
    node, at = _any(tree, rng)
    if node.items:
        node.items[at] = (node.items[at][0], Raw(rng.choice(RAW)))


def _retype(tree: Node, rng: random.Random) -> None:
    """Put a value into a list, a mapping or quotes, or take it out."""
    node, at = _any(tree, rng)
    if not node.items:
        return
    key, item = node.items[at]
    how = rng.choice(("list", "mapping", "text", "first"))
    if how == "list":
        item = Node(is_mapping=False, items=[(None, item)])
    elif how == "mapping":
        item = Node(is_mapping=True, items=[("a", item)])
    elif how == "text":
        item = _flow(item)
    elif isinstance(item, Node) and item.items:
        item = item.items[0][1]
    node.items[at] = (key, item)


def _rename(tree: Node, rng: random.Random) -> None:
    """Misspell a key, or take a name that may not be one."""
    node, at = _any(tree, rng)
    if not node.is_mapping or not node.items:
        return
    key, item = node.items[at]
    others = [k for each in _nodes(tree) if each.is_mapping for k, _ in each.items]
    raw = Raw(rng.choice(("<<", "1", "null", "? a", "[a]", "!!int 1", "*a", "&a b", "- a")))
    names = [name for name in NAMES if name != NOT_UTF8]
    near = key[:-1] if isinstance(key, str) else "x"
    chosen = rng.choice((raw, rng.choice(names), near, rng.choice(others)))
    node.items[at] = (chosen, item)


def _alias(tree: Node, rng: random.Random) -> None:
    """Give an item an anchor, and use it elsewhere: as a value or merged."""
    node, at = _any(tree, rng)
    if not node.items:
        return
    key, item = node.items[at]
    node.items[at] = (key, Raw(f"&it {_flow(item)}"))
    other, place = _any(tree, rng)
    if other.is_mapping and rng.random() < 0.6:
        other.items.insert(place, (Raw("<<"), Raw(rng.choice(("*it", "[*it, *it]")))))
    elif other.items and other is not node:
        other.items[place] = (other.items[place][0], Raw("*it"))


CHANGES: tuple[Change, ...] = (
    *(_delete, _double, _move, _value, _value, _raw, _raw, _retype, _rename, _alias),
)


# Changes of the text.


def _line_ends(text: str, rng: random.Random) -> str:
    return text.replace("\n", rng.choice(("\r\n", "\r", "\u2028", "\x85", "\n\n", "\v")))


def _put(text: str, rng: random.Random) -> str:
    """Put something at the start, the end, or anywhere."""
    what = (
        *("\ufeff", "\t", "\0", "\x07", "\x7f", "\udcff", "---\n", "...\n", "%YAML 1.1\n"),
        *(
            "# \u202e\n",
            "- ",
            ": ",
            "? ",
            "{",
            "}",
            "'",
            '"',
            "|\n",
            "\n",
            "\u00a0",
            "<<: *a\n",
        ),
        *("%TAG ! x\n", "[" * 400, "  " * 400, "a: " * 400, "&a " * 400, "!x " * 400),
    )
    at = rng.choice((0, len(text), rng.randrange(len(text) + 1)))
    return text[:at] + rng.choice(what) + text[at:]


def _indent(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at] = rng.choice((" ", "  ", "\t", "    ")) + lines[at]
    return "\n".join(lines)


def _unquote(text: str, rng: random.Random) -> str:
    return text.replace('"', rng.choice(("", "'")))


TEXTS: tuple[Callable[[str, random.Random], str], ...] = (
    *(_line_ends, _put, _put, _put, _indent, _unquote),
)
