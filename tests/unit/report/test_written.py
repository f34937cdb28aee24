"""What `auto` chose, as a manifest would name it."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML

from ascendflow.report.collect import collect
from ascendflow.report.render import render
from ascendflow.report.written import rules_written
from tests.reports import passed, rule_entry


def chosen(name: str, *nodes: str, file: str | None = None, auto: bool = True) -> Any:
    applied = [{"node": n, "op_type": "Abs", "before": {}, "after": {}} for n in nodes]
    deviations = {"some-deviation": list(nodes)} if auto else {}
    return {**rule_entry(name), "applied": applied, "deviations": deviations, "file": file}


def report_of(*rules: Any) -> Any:
    documents = passed()
    documents["rewrite.json"]["rules"] = list(rules)
    return collect(documents)


def test_what_is_written_reads_back_as_the_rules_and_their_nodes() -> None:
    odd = ["/up/Resize", "true", "a, b: [c]", "\u2028\x07'\"\\"]
    report = report_of(
        chosen("first", *odd),
        chosen("second", "n"),
        chosen("first", "later"),
        chosen("mine", "n", file="own rule.py", auto=False),
        {**chosen("scaled", "n", auto=False), "arguments": {"scale": 64}},
        {**chosen("lossy", "n", auto=False), "effect": "lossy"},
        {**chosen("idle"), "deviations": {"some-deviation": ["x"]}},
    )

    read = YAML(typ="safe").load(rules_written(report))

    assert read == {
        "rewrite": {
            "rules": [
                {"name": "first", "nodes": [*odd, "later"]},
                {"name": "second", "nodes": ["n"]},
                {"name": "mine", "file": "own rule.py", "nodes": ["n"]},
                {"name": "scaled", "scale": 64, "nodes": ["n"]},
                {"name": "lossy", "nodes": ["n"]},
            ],
            "allow_lossy": True,
        }
    }


def test_nothing_is_written_where_auto_chose_nothing() -> None:
    assert rules_written(report_of(chosen("named", "n", auto=False))) == ""
    assert rules_written(report_of()) == ""


def test_the_report_says_what_each_rule_was_chosen_for() -> None:
    page = render(report_of(chosen("first", "<n>")))

    assert "All that was applied, as pipelines/" in page
    assert "Chosen by <code>auto</code> against some-deviation." in page
    assert "- {name: first, nodes: [&#34;&lt;n&gt;&#34;]}" in page
