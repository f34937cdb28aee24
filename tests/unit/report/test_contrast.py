from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import pytest

from ascendflow.manifest import schema
from tests.contrasts import emulated, joined, of_device
from tests.reports import node


def rows(measured: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return {row["node"]: row for row in joined(measured)["nodes"]}


def test_node_where_the_two_part_comes_before_those_that_pass_it_on() -> None:
    document = joined()

    # The Sigmoid has NaN of its own on one side only, which no number is larger than.
    assert [row["node"] for row in document["nodes"]] == [
        *("/head/Sigmoid", "/up3/Resize", "/conv/Conv", "/add/Add"),
    ]
    found = rows()
    assert found["/head/Sigmoid"]["disagreement"] == "Infinity"
    # Distances are 1 - cosine there: 0.43 predicted, 0.0001 measured; then 0.4 and 0.0001.
    assert found["/up3/Resize"]["disagreement"] == pytest.approx(0.4299)
    assert found["/up3/Resize"]["added"] == pytest.approx(0.4299)
    assert found["/add/Add"]["disagreement"] == pytest.approx(0.3999)
    assert found["/add/Add"]["added"] == pytest.approx(0.3999 - 0.4299)


def test_row_holds_both_errors_and_all_that_is_known_of_the_node() -> None:
    row = rows()["/up3/Resize"]

    assert row["predicted"] == node("x", "", [], 0.57)["metrics"]
    assert row["measured"] == node("x", "", [], 0.9999)["metrics"]
    assert row["metric"] == "relative_euclidean_distance"
    assert row["standing"] == "predicted_only"
    assert (row["predicted_op"], row["measured_op"]) == ("ResizeBilinearV2", "Resize")
    assert row["findings"] == ["resize-half-pixel", "resize-half-weights"]
    assert row["emulated"] == ["resize-half-pixel"]
    assert row["attributes"] == {"mode": "linear"}
    assert row["shapes"] == {"/up3/Resize:0": [1, 8, "H", 4]}


@pytest.mark.parametrize(
    ("measured", "standing"),
    [
        (node("/up3/Resize", "Resize", [], 0.6), "both"),
        (node("/up3/Resize", "Resize", [], 0.9999), "predicted_only"),
    ],
)
def test_what_is_predicted_is_measured_or_not(
    measured: dict[str, object], standing: str
) -> None:
    assert rows(of_device(Resize=measured))["/up3/Resize"]["standing"] == standing


def test_what_is_measured_alone_is_the_emulators_to_learn() -> None:
    worse = node("/conv/Conv", "Conv", ["image"], 0.7)

    row = rows(of_device(Conv=worse))["/conv/Conv"]

    assert row["standing"] == "measured_only"
    assert row["disagreement"] == pytest.approx(0.3 - 0.000001)


@pytest.mark.parametrize(
    ("changes", "disagreement"),
    [
        pytest.param({"problem": "another shape"}, math.inf, id="incomparable"),
        pytest.param({"introduced_nonfinite": 2}, math.inf, id="one-has-nan"),
        pytest.param(
            {"metrics": {"relative_euclidean_distance": "NaN"}}, math.inf, id="no-number"
        ),
        pytest.param({"metrics": {"mismatch_rate": 0.5}}, None, id="nothing-in-common"),
    ],
)
def test_what_cannot_be_told_never_counts_as_agreement(
    changes: dict[str, object], disagreement: float | None
) -> None:
    row = rows(of_device(Conv=changes))["/conv/Conv"]

    assert row["disagreement"] == ("Infinity" if disagreement == math.inf else None)
    assert row["problem"] == changes.get("problem")


def test_two_that_are_both_no_number_agree() -> None:
    same = {"introduced_nonfinite": 1, "metrics": {"relative_euclidean_distance": 0.0}}

    assert rows(of_device(Sigmoid=same))["/head/Sigmoid"]["disagreement"] == 0.0


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_two_numbers_that_are_equally_none_agree(value: str) -> None:
    predicted, measured = emulated(), of_device()
    for side in (predicted, measured):
        (conv, *_) = (n for n in side["metrics.json"]["nodes"] if n["op_type"] == "Conv")
        conv["metrics"] = {"relative_euclidean_distance": value}

    (row, *_) = (r for r in joined(measured, predicted)["nodes"] if r["op_type"] == "Conv")

    assert (row["disagreement"], row["added"]) == (0.0, 0.0)


def test_infinite_disagreement_that_is_passed_on_adds_nothing() -> None:
    nan = {"problem": "another shape"}

    found = rows(of_device(Resize=nan, Add=nan))

    assert found["/add/Add"]["disagreement"] == "Infinity"
    assert found["/up3/Resize"]["added"] == "Infinity"
    assert found["/add/Add"]["added"] == 0.0


def test_device_that_dumped_nothing_leaves_the_outputs_and_a_reason() -> None:
    measured = of_device()
    measured["metrics.json"] |= {"nodes": [], "node_samples": []}

    document = joined(measured)

    assert document["nodes"] == []
    assert "no tensor inside the model was had from the device" in document["why_no_nodes"]
    assert document["outputs"]


def test_tensors_of_one_side_are_named() -> None:
    measured = of_device(Conv={"tensor": "fused"})

    document = joined(measured)

    assert document["alone"] == {"predicted": ["/conv/Conv:0"], "measured": ["fused"]}


def test_both_verdicts_are_kept_apart() -> None:
    document = joined()

    assert (document["predicted"]["passed"], document["measured"]["passed"]) == (
        False,
        True,
    )
    assert document["measured"]["versions"] == {"opp": "7.7.0.1.238"}
    assert document["predicted"]["failed"] == [
        *("onnx-target/mask/cosine_similarity", "onnx-target/mean_iou/relative_drop"),
    ]
    assert document["whole"] == ["precision-force_fp16"]


def test_document_is_of_its_schema_and_holds_no_sample_path_or_argument() -> None:
    document = joined()
    text = json.dumps(document)

    jsonschema.validate(document, json.loads(schema.read("contrast")))
    assert not [word for word in ("test-07", "model.py", "/home/me") if word in text]
