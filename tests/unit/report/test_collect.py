from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ascendflow.documents.conversion import AppliedDeviation
from ascendflow.manifest import schema
from ascendflow.manifest.validate import KINDS
from ascendflow.report.collect import collect
from tests.reports import failed, node, passed

SCHEMAS = schema.schemas()


def _refusals(kind: str, document: Any) -> list[str]:
    validator = Draft202012Validator(json.loads(SCHEMAS[f"{kind}{schema.SUFFIX}"]))
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("role", sorted(failed().keys() - {"warnings.json"}))
@pytest.mark.parametrize("documents", [failed(), passed()], ids=["failed", "passed"])
def test_the_documents_of_these_tests_are_what_stages_write(
    documents: dict[str, Any], role: str
) -> None:
    for applied in documents["conversion.json"]["applied"]:
        for key in applied.keys() - AppliedDeviation.__annotations__.keys():
            del applied[key]
    documents["verdict.json"]["emulation"]["applied"] = documents["conversion.json"][
        "applied"
    ]

    kind = KINDS.get(role, role.removesuffix(".json"))

    assert _refusals(kind, documents[role]) == []


@pytest.mark.parametrize("documents", [failed(), passed()], ids=["failed", "passed"])
def test_a_report_is_valid_by_its_schema(documents: dict[str, Any]) -> None:
    report = collect(documents)

    assert _refusals("report", report) == []
    json.dumps(report, allow_nan=False)


def test_what_a_node_introduces_is_told_from_what_it_passes_on() -> None:
    nodes = {row["node"]: row for row in collect(failed())["nodes"]}

    assert nodes["/up3/Resize"]["drop"] == pytest.approx(0.999999 - 0.57)
    # Add reads the Resize and does no worse than it.
    assert nodes["/add/Add"]["worst_input"] == 0.57
    assert nodes["/add/Add"]["drop"] == pytest.approx(-0.03)
    assert nodes["/head/Sigmoid"]["drop"] is None


def test_a_node_carries_its_place_in_the_users_code() -> None:
    rows = {row["node"]: row for row in collect(failed())["nodes"]}

    assert (rows["/up3/Resize"]["module"], rows["/up3/Resize"]["source"]) == (
        "up3",
        "model.py:42",
    )
    assert (rows["/add/Add"]["module"], rows["/add/Add"]["source"]) == ("", "")


@pytest.mark.parametrize(
    ("direction", "onnx", "target", "drop"),
    [
        ("higher", 0.8, 0.7, pytest.approx(0.125)),
        ("lower", 2.0, 3.0, 0.5),
        ("higher", -2.0, -3.0, 0.5),
        ("higher", 0.0, 0.5, None),
    ],
)
def test_the_drop_of_an_end_metric_is_relative_to_onnx(
    direction: str, onnx: float, target: float, drop: Any
) -> None:
    documents = failed()
    documents["evaluation.json"].update(direction=direction, onnx=onnx, target=target)

    metric = collect(documents)["metric"]

    assert metric is not None
    assert metric["drop"] == drop


def test_a_run_without_an_end_metric_has_none() -> None:
    documents = failed()
    documents["evaluation.json"].update(
        dict.fromkeys(("metric", "direction", "torch", "onnx", "target"))
    )

    assert collect(documents)["metric"] is None


def test_warnings_of_the_stages_are_in_the_report() -> None:
    documents = passed()
    warning = {"stage": "samples", "text": "random inputs"}
    documents["warnings.json"]["warnings"] = [warning]

    assert collect(documents)["warnings"] == [warning]
    assert collect(passed())["warnings"] == []


def test_a_rule_tells_whether_its_promise_held() -> None:
    (rule,) = collect(passed())["rules"]

    assert rule["held"] is True
    assert rule["applied"] == ["/up3/Resize"]
    assert rule["skipped"] == {"mode is not 'linear'": ["/near/Resize"]}


def test_a_real_device_has_no_emulation_and_is_measured() -> None:
    documents = failed()
    documents["conversion.json"].update(backend="cann", is_real_device=True, applied=[])

    report = collect(documents)

    assert report["emulation"] is None
    assert report["target"]["words"] == "measured on a device"


def test_a_deviation_without_nodes_holds_for_all() -> None:
    emulation = collect(failed())["emulation"]

    assert emulation is not None
    assert [(d["deviation"], d["nodes"]) for d in emulation["applied"]] == [
        ("resize-half-pixel", 2),
        ("precision-force_fp16", None),
    ]


def test_a_conversion_that_names_no_rules_gives_a_cause_without_a_cure() -> None:
    documents = failed()
    for applied in documents["conversion.json"]["applied"]:
        del applied["rule"]

    found = collect(documents)["divergent_node"]

    assert found is not None
    (cause,) = found["causes"]
    assert cause["cure"] is None


def test_nan_stays_nan() -> None:
    documents = failed()
    documents["metrics.json"]["nodes"] = [node("x", "Exp", [], "NaN")]

    (row,) = collect(documents)["nodes"]

    assert row["metrics"]["cosine_similarity"] == "NaN"
    assert row["diverges"] is True
