"""Whether the functions that a manifest names are there, without running user code."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.paths import OutsideError, locate, lookup
from ascendflow.manifest.problems import Problem, closest_or_all, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascendflow.manifest.paths import Places
    from ascendflow.manifest.problems import Keys

BLOCKS: tuple[Keys, ...] = (("source", "torch"), ("samples",), ("evaluate",))
"""Where a manifest names a module and a factory of it."""

COMPUTED = frozenset(
    {"exec", "eval", "globals", "locals", "vars", "setattr", "modules", "__dict__"}
)
"""What may define names that no reading finds; so may a module's own __getattr__."""


def factory_problems(data: Any, places: Places) -> Iterator[Problem]:
    """Judge each factory by its module's text; where that cannot tell, its stage does."""
    for block in BLOCKS:
        module, factory = (lookup(data, (*block, key)) for key in ("module", "factory"))
        if not isinstance(module, str) or not isinstance(factory, str):
            continue
        try:
            defined = _defined(locate(module, places))
        except (
            OSError,
            OutsideError,
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ):
            continue
        if defined is not None and factory not in defined:
            functions = [name for name in defined if not name.startswith("_")]
            text = f"is not defined in {module}, got {shown(factory)}"
            yield Problem((*block, "factory"), text, closest_or_all(factory, functions))


def _defined(path: Path) -> list[str] | None:
    """Name what a module may bind, functions and classes first; None: it cannot be told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the user's code, which its stage compiles
        tree = ast.parse(path.read_bytes())
    if any(_may_hide_names(node) for node in ast.walk(tree)):
        return None
    made: dict[str, None] = {}
    bound: dict[str, None] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made[node.name] = None
            continue  # what it binds is its own
        if isinstance(node, ast.alias):
            bound[node.asname or node.name.partition(".")[0]] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = None
        waiting += ast.iter_child_nodes(node)
    return [*made, *bound]


def _may_hide_names(node: ast.AST) -> bool:
    match node:
        case ast.alias(name="*") | ast.Global() | ast.Match():
            return True
        case ast.FunctionDef(name="__getattr__"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in COMPUTED
    return False
