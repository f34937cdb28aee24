"""Whether a factory takes the arguments that a manifest gives it, by its text alone.

Only where the text is the whole truth: a decorator, a base class or a metaclass may take
other arguments, so such a factory is left to its stage.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.problems import Problem, closest_or_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.manifest.problems import Keys

PLAIN_BASES = ("nn.Module", "torch.nn.Module", "Module", "object")
"""Bases that take what their class's own __init__ takes."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def argument_problems(
    block: Keys, module: str, made: Definition, given: Any, before: int
) -> Iterator[Problem]:
    """Hold the block's `arguments` against a factory's signature.

    Args:
        block: where the manifest names the factory.
        module: its file, as the manifest spells it.
        made: what the file defines under its name.
        given: the block's `arguments`, raw.
        before: how many arguments it gets that the manifest does not give.
    """
    found = _signature(made)
    named = {} if given is None else given
    if found is None or not isinstance(named, dict):
        return
    signature, own = found
    where = f"{module}:{made.lineno} {made.name}({ast.unparse(signature)})"
    by_place = [*signature.posonlyargs, *signature.args][own:]
    if len(by_place) < before and signature.vararg is None:
        text = f"must take {before} arguments by place, outputs and samples; it is {where}"
        yield Problem((*block, "factory"), text)
        return
    taken, free = _names(by_place[:before]), by_place[before:]
    by_name = [each for each in free if each not in signature.posonlyargs]
    known = _names([*by_name, *signature.kwonlyargs])
    for name in named:
        if name in taken:
            text = f"is what ascendflow gives to {where}"
            yield Problem((*block, "arguments", name), text, "leave it out")
        elif name not in known and signature.kwarg is None:
            hint = closest_or_all(name, known)
            text = f"is no argument of {where}"
            yield Problem((*block, "arguments", name), text, hint)
    if lacking := [name for name in _needed(signature, free) if name not in named]:
        keys = (*block, "factory") if given is None else (*block, "arguments")
        spelled = ", ".join(f"{name}: ..." for name in lacking)
        text = f"lacks {', '.join(lacking)}, which {where} needs"
        hint = f"write arguments: {{{spelled}}}, or give it a default"
        yield Problem(keys, text, hint, is_apart=True)


def _signature(made: Definition) -> tuple[ast.arguments, int] | None:
    """Return a signature and how many arguments of it Python gives; None: not known."""
    if made.decorator_list:
        return None
    if not isinstance(made, ast.ClassDef):
        return made.args, 0
    own = {each.name: each for each in made.body if isinstance(each, ast.FunctionDef)}
    start = own.get("__init__")
    if start is None or start.decorator_list or made.keywords or "__new__" in own:
        return None
    if any(ast.unparse(base) not in PLAIN_BASES for base in made.bases):
        return None
    return start.args, 1


def _needed(signature: ast.arguments, free: list[ast.arg]) -> list[str]:
    """Name what has no default, of the arguments that the manifest gives."""
    by_place = [*signature.posonlyargs, *signature.args]
    without = by_place[: len(by_place) - len(signature.defaults)]
    pairs = zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
    bare = [each for each, default in pairs if default is None]
    return _names([*(each for each in free if each in without), *bare])


def _names(arguments: list[ast.arg]) -> list[str]:
    return [each.arg for each in arguments]
