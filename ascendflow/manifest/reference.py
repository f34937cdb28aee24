"""A document's schema as a page to read: `docs/manifest.md` is one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.manifest import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 8
"""A choice among more is shown by its first few."""


def page(kind: str) -> str:
    """Describe every key of the documents of `kind`, block by block, in Markdown.

    Raises:
        FileNotFoundError: `kind` is no document.
    """
    document = json.loads(schema.read(kind))
    what = f"a {kind}" if kind == "manifest" else f"`{kind}`"
    lines = _block(f"# The keys of {what}", "", document, document.get("$defs", {}))
    return "\n".join(lines).rstrip() + "\n"


def _block(
    heading: str, path: str, block: dict[str, Any], known: dict[str, Any]
) -> Iterator[str]:
    """Yield a block's section, and then those of the blocks it names, in their order."""
    required = block.get("required", ())
    yield f"{heading}\n"
    yield f"{block.get('description', '').strip()}\n"
    yield "| key | value | default | meaning |\n|---|---|---|---|"
    inner: list[tuple[str, dict[str, Any]]] = []
    for key, value in block["properties"].items():
        default = "required" if key in required else _default(value)
        meaning, held = value.get("description"), _held(value, known)
        if held:
            inner.append((f"{path}{key}", held))
            meaning = meaning or held.get("description", "").partition("\n\n")[0]
        is_null = key in required and {"type": "null"} in value.get("anyOf", ())
        kind = _type(value) + " or null" * is_null
        cells = (f"`{key}`", kind, default, meaning or "")
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    for place, each in inner:
        if "properties" in each:
            yield from _block(f"## {place}", f"{place}.", each, known)


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    return (
        ""
        if default is None or isinstance(default, dict | list)
        else f"`{json.dumps(default)}`"
    )


def _held(value: Any, known: dict[str, Any]) -> dict[str, Any] | None:
    """Return the first block that a value may be, or hold."""
    if isinstance(value, dict):
        if "$ref" in value:
            named: dict[str, Any] = known[value["$ref"].rpartition("/")[2]]
            return named
        if _is_told(value):
            return value
        value = [value.get(key) for key in ("anyOf", "items", "additionalProperties")]
    elif not isinstance(value, list):
        return None
    return next((held for each in value if (held := _held(each, known))), None)


def _is_told(value: dict[str, Any]) -> bool:
    """Whether it is a block that is spelled out where it is held, and says what it is."""
    return "properties" in value and "description" in value


def _type(value: dict[str, Any]) -> str:
    if "anyOf" in value and value.get("type") is None:
        kinds = [_type(each) for each in value["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in value or _is_told(value):
        return "block, below"
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        shown = [f"`{each}`" for each in value["enum"][:MANY]]
        return ", ".join(shown) + (", ..." if len(value["enum"]) > MANY else "")
    if value.get("type") == "array":
        of = value.get("items") or {}
        return f"list of {_type(of)}" if of else "list"
    return {"object": "mapping", "string": "text"}.get(
        value.get("type", ""), _number(value)
    )


def _number(value: dict[str, Any]) -> str:
    signs = (
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
    )
    limits = [f"{sign} {value[key]}" for key, sign in signs if key in value]
    return " ".join([str(value.get("type", "any")), *limits])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())
