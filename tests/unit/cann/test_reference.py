"""The page of deviations: what is joined from where."""

from __future__ import annotations

import re
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from ascendflow.cann import reference
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.equal import EQUAL, Equal
from ascendflow.cann.precision import MODELLED, why_not_modelled
from ascendflow.cann.soc import MODELLED as SOCS
from ascendflow.cann.soc import soc
from ascendflow.cann.sources import SOURCES
from ascendflow.cann.target import Target
from ascendflow.cann.whole_graph import NAMES, applied
from ascendflow.graph.rules import RULES
from ascendflow.tasks.commands.schema import Schema
from tests.emulation import convert, target
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.cann.deviations.deviation import Conditions


def test_every_deviation_and_rule_has_its_place() -> None:
    page = reference.page()

    for deviation in DEVIATIONS:
        assert f"\n## {deviation.name}\n" in page
        assert f"| [`{deviation.name}`](#{deviation.name}) |" in page
        assert deviation.advice is None or f"| advice | {deviation.advice} |" in page
    for rule in RULES:
        assert f"| `{rule.name}` | {rule.version} | {rule.effect} |" in page


def on_the_page(name: str) -> bool:
    """Whether an id has a section or, where it is of the whole graph, a row."""
    page = reference.page()
    return f"\n## {name}\n" in page or f"\n| `{name}` | " in page


def test_every_id_that_a_target_may_name_is_on_the_page() -> None:
    targets = [
        Target.of(target(chip, mode))
        for chip, mode in product(SOCS, MODELLED)
        if why_not_modelled(mode, soc(chip)) is None
    ]
    names = {entry["deviation"] for each in targets for entry in applied(each)}

    assert {"precision-force_fp32", "overflow-inf", "overflow-saturate"} <= names
    assert [name for name in sorted(names) if not on_the_page(name)] == []
    assert not on_the_page("precision-force_fp61")


def test_every_id_that_a_conversion_names_is_on_the_page(tmp_path: Path) -> None:
    """A deviation, a fusion, and what holds for all nodes."""
    nodes = [
        node("Resize", ["x", "", "up"], ["r"], mode="linear"),
        node("MatMul", ["r", "w"], ["m"]),
        node("Cast", ["m"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = {"up": np.array([1, 1, 2, 2], F32), "w": np.ones((8, 8), F32)}
    proto = model(nodes, [("x", [1, 1, 4, 4])], [("y", [1, 1, 8, 8])], constants)

    names = [entry["deviation"] for entry in convert(proto, tmp_path)["applied"]]

    assert {"resize-half-pixel", "cube-cast-fusion", "precision-force_fp16"} <= {*names}
    assert [name for name in names if not on_the_page(name)] == []


def test_an_operator_without_a_parser_is_not_told_like_the_next() -> None:
    """What is the same of all stands under op-unregistered alone."""
    page = reference.page()
    kin = [d.name for d in DEVIATIONS if d.name.endswith("-unregistered")]
    sections = [page.partition(f"\n## {n}\n")[2].partition("\n## ")[0] for n in kin]

    assert kin[0] == "op-unregistered"
    assert "| read in |" in sections[0]
    for section in sections[1:]:
        rows = re.findall(r"(?m)^\| (\w[\w ]*) \|", section)
        assert rows == ["operators", "CANN", "cured by"]
        assert section.lstrip().startswith("As [`op-unregistered`](#op-unregistered), ")
    assert len({s.partition("| CANN |")[2] for s in sections}) == len(kin)


def unexplained(source: str) -> list[str]:
    """Return the parts of a source that begin like none of the page's."""
    known = [name for names in SOURCES for name in names.split(", ")]
    return [
        part
        for part in source.split("; ")
        if not part.startswith(tuple(known))
        and re.match(r"[\w-]+/[\w-]+#\d+", part) is None
    ]


def test_every_source_is_one_that_the_page_explains() -> None:
    sources = [*(d.source for d in DEVIATIONS), *(each.source for each in EQUAL)]
    sources += [each.source for each in NAMES]
    page = reference.page()

    assert [part for source in sources for part in unexplained(source)] == []
    assert unexplained("canndev a.cc; hearsay") == ["hearsay"]
    assert all(f"\n| {name} | {what} |\n" in page for name, what in SOURCES.items())


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
