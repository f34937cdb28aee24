"""The page of deviations: what is joined from where."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cann import reference
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.equal import Equal
from ascendflow.graph.rules import RULES
from ascendflow.tasks.commands.schema import Schema

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Conditions


def test_every_deviation_and_rule_has_its_place() -> None:
    page = reference.page()

    for deviation in DEVIATIONS:
        assert f"\n## {deviation.name}\n" in page
        assert f"| [`{deviation.name}`](#{deviation.name}) |" in page
        assert deviation.advice is None or f"| advice | {deviation.advice} |" in page
    for rule in RULES:
        assert f"| `{rule.name}` | {rule.version} | {rule.effect} |" in page


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert Schema().parse_execute(["describe", "deviations"]) == 0
    assert capsys.readouterr().out == reference.page()


@pytest.mark.parametrize(
    ("read", "between", "opened", "told"),
    [
        ("high", "high", "high", "high"),
        ("high", "medium", "medium", "up to 6.0: high; from 6.1: medium"),
        ("high", "high", "low", "up to 8.4: high; from 8.5: low"),
        ("high", "low", "high", "up to 6.0: high; 6.1 to 8.4: low; from 8.5: high"),
    ],
)
def test_confidence_is_told_for_each_span_of_versions(
    read: str, between: str, opened: str, told: str
) -> None:
    def confidence(conditions: Conditions) -> str:
        if conditions.profile.is_read:
            return read
        return opened if conditions.profile.is_open else between

    deviation: Any = SimpleNamespace(confidence=confidence)
    assert reference._confidence(deviation) == told


def test_confidence_that_depends_on_the_soc_names_both() -> None:
    def confidence(conditions: Conditions) -> str:
        return "low" if conditions.soc.family == "ascend310" else "high"

    deviation: Any = SimpleNamespace(confidence=confidence)
    assert reference._confidence(deviation) == "high or low"


def test_what_is_equal_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    equal = Equal("Celu", "All of it | really.", "celu.cc")
    monkeypatch.setattr(reference, "EQUAL", (equal,))

    page = reference.page()

    assert "## Checked and equal" in page
    assert r"| Celu | All of it \| really. | celu.cc |" in page
