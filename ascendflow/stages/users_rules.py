"""The user's own rules: found in their files, and held to what a rule must be."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, get_args

from ascendflow.documents.rewrite_log import Effect
from ascendflow.errors import StageError
from ascendflow.factories import load_module, users_code
from ascendflow.graph import edit, nodes
from ascendflow.graph.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import ModuleType

EFFECTS = get_args(Effect)
FOR_RULES = (Rule.__module__, nodes.__name__, edit.__name__)
"""What of ascendflow a rule may import; whatever else is not this stage's code."""
_OURS = tuple(name for name, value in vars(Rule).items() if inspect.isfunction(value))
"""What selects nodes and holds a rule to its contract, and `apply`."""


def load_rules(folder: Path, named: Iterable[tuple[str, str]]) -> list[Rule]:
    """Import rules, each by its file in `folder` and its name, in that order.

    Raises:
        StageError: a file cannot be imported, has no such rule, or one that lacks what a
            rule needs; names file and line.
    """
    return [_load(folder, file, name) for file, name in named]


def _load(folder: Path, file: str, name: str) -> Rule:
    before = _ours()
    module = load_module(folder, file)
    if foreign := sorted(_ours() - before):
        raise StageError(
            f"{file}: imports {', '.join(foreign)}, which a rule may not",
            hint=f"of ascendflow it may import {', '.join(FOR_RULES)}",
        )
    classes = _rules_of(module)
    found = next((each for each in classes if getattr(each, "name", None) == name), None)
    if found is None:
        names = ", ".join(str(getattr(each, "name", each.__name__)) for each in classes)
        raise StageError(
            f"{file}: defines no rule called {name!r}",
            hint=f"it defines: {names}"
            if names
            else "a rule is a subclass of ascendflow.graph.rule.Rule with that `name`",
        )
    where = f"{file}:{inspect.getsourcelines(found)[1]} ({found.__name__})"
    if (problem := _why_no_rule(found)) is not None:
        raise StageError(f"{where}: {problem}", hint="docs/user-code.md shows a rule")
    with users_code(where):
        rule = found()
    rule.file = file
    return rule


def _ours() -> set[str]:
    return {name for name in sys.modules if name.startswith("ascendflow.")}


def _rules_of(module: ModuleType) -> list[type[Rule]]:
    """List the rules that the module itself defines."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
    ]


def _why_no_rule(found: Any) -> str | None:
    """Say what a class lacks to be a rule, or return None."""
    missing = [
        name for name in ("version", "op_types", "effect") if not hasattr(found, name)
    ]
    if inspect.isabstract(found):
        missing.append("apply")
    if missing:
        return f"a rule must have {', '.join(missing)}"
    version, op_types, effect = found.version, found.op_types, found.effect
    if type(version) is not int or version < 1:
        return f"version must be an integer from 1 on, got {version!r}"
    if effect not in EFFECTS:
        return f"effect must be one of {', '.join(EFFECTS)}, got {effect!r}"
    changed = {name for name in _OURS if getattr(found, name) is not getattr(Rule, name)}
    if own := sorted(changed - {"apply"}):
        return f"{', '.join(own)} is not its own to define: a rule has `apply`"
    is_set = isinstance(op_types, set | frozenset) and op_types
    if not is_set or not all(isinstance(each, str) for each in op_types):
        return f"op_types must be a set of operator types, got {op_types!r}"
    return None
