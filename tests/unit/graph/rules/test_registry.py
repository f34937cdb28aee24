from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ascendflow import vocabulary
from ascendflow.cache.code import CodeDigests
from ascendflow.cache.index import Index
from ascendflow.graph.rules import RULES

if TYPE_CHECKING:
    from ascendflow.graph.rule import Rule


def test_the_rules_are_those_of_the_vocabulary_in_its_order() -> None:
    assert tuple((rule.name, rule.version) for rule in RULES) == vocabulary.RULES


@pytest.mark.parametrize("stage", ["rewrite", "check"])
def test_what_a_rule_does_is_in_the_key_whatever_its_version(
    stage: str, tmp_path: Path
) -> None:
    package = Path(vocabulary.__file__).parent
    digests = CodeDigests(package, Index(tmp_path / "index"), tmp_path / "code.json")

    covered = digests.of([f"ascendflow.stages.{stage}"]).modules

    assert {type(rule).__module__ for rule in RULES} <= covered


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_says_what_it_promises_and_of_which_nodes(rule: Rule) -> None:
    assert rule.effect in {"exact", "equivalent", "lossy"}
    assert rule.op_types


def test_arguments_are_those_that_the_manifest_knows() -> None:
    named = {rule.name: tuple(sorted(rule.arguments)) for rule in RULES if rule.arguments}

    assert named == vocabulary.RULE_ARGUMENTS


def test_lossy_rules_are_named_for_who_advises_them() -> None:
    lossy = tuple(rule.name for rule in RULES if rule.effect == "lossy")

    assert lossy == tuple(vocabulary.LOSSY_RULES)
    assert all(vocabulary.LOSSY_RULES.values())
