"""Whether the functions that a manifest names are there, and take what they are given.

Told from their modules' text: no user code is run.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.paths import OutsideError, locate, lookup
from ascendflow.manifest.problems import Problem, closest_or_all, shown
from ascendflow.manifest.signatures import argument_problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascendflow.manifest.paths import Places
    from ascendflow.manifest.problems import Keys
    from ascendflow.manifest.signatures import Definition

BLOCKS: tuple[tuple[Keys, int], ...] = (
    (("source", "torch"), 0),
    (("samples",), 0),
    (("evaluate",), 2),
)
"""Where a manifest names a module and a factory of it, and how many arguments that gets
before those that the manifest gives by name."""

COMPUTED = frozenset(
    {"exec", "eval", "globals", "locals", "vars", "setattr", "modules", "__dict__"}
)
"""What may define names that no reading finds; so may a module's own __getattr__."""


def factory_problems(data: Any, places: Places) -> Iterator[Problem]:
    """Judge each factory by its module's text; where that cannot tell, its stage does."""
    for block, before in BLOCKS:
        module, factory = (lookup(data, (*block, key)) for key in ("module", "factory"))
        if not isinstance(module, str) or not isinstance(factory, str):
            continue
        try:
            tree = _parsed(locate(module, places))
        except (
            OSError,
            OutsideError,
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ):
            continue
        if any(_may_hide_names(node) for node in ast.walk(tree)):
            continue
        made, bound = _defined(tree)
        if factory not in {*made, *bound}:
            functions = [name for name in (*made, *bound) if not name.startswith("_")]
            text = f"is not defined in {module}, got {shown(factory)}"
            hint = closest_or_all(factory, dict.fromkeys(functions))
            yield Problem((*block, "factory"), text, hint)
        elif len(made.get(factory, ())) == 1 and factory not in bound:
            given = lookup(data, (*block, "arguments"))
            yield from argument_problems(block, module, made[factory][0], given, before)


def _parsed(path: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the user's code, which its stage compiles
        return ast.parse(path.read_bytes())


def _defined(tree: ast.Module) -> tuple[dict[str, list[Definition]], dict[str, None]]:
    """Return what a module defines, by name, and the names that it may bind otherwise."""
    made: dict[str, list[Definition]] = {}
    bound: dict[str, None] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.setdefault(node.name, []).append(node)
            continue  # what it binds is its own
        if isinstance(node, ast.alias):
            bound[node.asname or node.name.partition(".")[0]] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = None
        waiting += ast.iter_child_nodes(node)
    return made, bound


def _may_hide_names(node: ast.AST) -> bool:
    match node:
        case ast.alias(name="*") | ast.Global() | ast.Match():
            return True
        case ast.FunctionDef(name="__getattr__"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in COMPUTED
    return False
