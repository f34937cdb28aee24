"""What must hold of the rules that a manifest names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow import vocabulary
from ascendflow.manifest.paths import lookup
from ascendflow.manifest.problems import Problem, closest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.manifest.problems import Keys

OWN = "a rule of your own needs its `file` beside its name"
NAMES = [rule for rule, _ in vocabulary.RULES]


def rule_problems(data: Any) -> Iterator[Problem]:
    """Judge names: known, or of the user's own file, and each once."""
    rules = lookup(data, ("rewrite", "rules"))
    first: dict[str, int] = {}
    for index, rule in enumerate(rules if isinstance(rules, list) else []):
        keys: Keys = ("rewrite", "rules", index)
        name = rule.get("name") if isinstance(rule, dict) else rule
        if not isinstance(name, str) or not name:
            continue
        if first.setdefault(name, index) != index:
            text = f"is a rule named before, at rules[{first[name]}], got {shown(name)}"
            yield Problem(keys, text, "give all its nodes in one place")
        given = {k for k in rule if rule[k] is not None} if isinstance(rule, dict) else None
        if given is not None:
            yield from _problems(keys, name, given)
        else:
            yield from _unknown(keys, name)
        yield from _arguments(keys, name, given or set())


def _problems(keys: Keys, name: str, given: set[str]) -> Iterator[Problem]:
    if "file" not in given:
        yield from _unknown((*keys, "name"), name)
    elif name in (vocabulary.AUTO, *NAMES):
        text = f"is taken: ascendflow has a rule of that name, got {shown(name)}"
        yield Problem((*keys, "name"), text, "call your rule otherwise, or leave out file")
    if name == vocabulary.AUTO and (others := sorted(given - {"name", "file"})):
        yield Problem((*keys, others[0]), "is for one rule; auto is many")


def _arguments(keys: Keys, name: str, given: set[str]) -> Iterator[Problem]:
    """Hold a rule's arguments against what it takes, where ascendflow knows it."""
    if name not in NAMES:
        return
    wanted = vocabulary.RULE_ARGUMENTS.get(name, ())
    for key in sorted({key for keys in vocabulary.RULE_ARGUMENTS.values() for key in keys}):
        if (key in given) != (key in wanted):
            more, less = f"which takes no {key}", f"which needs a {key}"
            text = f"is {shown(name)}, {more if key in given else less}"
            hint = f"write {{name: {name}, {key}: ...}}"
            yield Problem(keys, text, "remove the key" if key in given else hint)


def _unknown(keys: Keys, name: str) -> Iterator[Problem]:
    known = (vocabulary.AUTO, *NAMES)
    if name not in known:
        text = f"is no rule (docs/deviations.md lists them), got {shown(name)}"
        yield Problem(keys, text, closest(name, known) or OWN)
