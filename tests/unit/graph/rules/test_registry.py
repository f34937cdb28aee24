from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow import vocabulary
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from ascendflow.graph.rule import Rule


def test_the_rules_are_those_of_the_vocabulary_in_its_order() -> None:
    assert tuple((rule.name, rule.version) for rule in RULES) == vocabulary.RULES


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_says_what_it_promises_and_of_which_nodes(rule: Rule) -> None:
    assert rule.effect in {"exact", "equivalent", "lossy"}
    assert rule.op_types


def test_arguments_are_those_that_the_manifest_knows() -> None:
    named = {rule.name: tuple(sorted(rule.arguments)) for rule in RULES if rule.arguments}

    assert named == vocabulary.RULE_ARGUMENTS


def test_lossy_rules_are_named_for_who_advises_them() -> None:
    lossy = tuple(rule.name for rule in RULES if rule.effect == "lossy")

    assert lossy == vocabulary.LOSSY_RULES
