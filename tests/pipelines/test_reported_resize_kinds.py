"""Resizes that CANN refuses, samples otherwise, or of which nobody knows: to the verdict.

Each case is built in code; what is expected comes from onnxruntime or the public report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.cann.resizing import AS_ASYMMETRIC, HONOURED
from ascendflow.errors import StageError
from ascendflow.report.collect import collect
from ascendflow.report.lines import failure_message, unknown_lines
from ascendflow.report.render import render
from ascendflow.tensors import ALTERNATIVE, TensorSet
from tests import models
from tests.models import F32, cosine, resize, resize_chain
from tests.stage_runs import simplified

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

    from ascendflow.documents.report import Report
    from tests.stage_runs import Pipeline

HALF_PIXEL, MATMUL = "resize-half-pixel", "resize-to-matmul"
READ = (
    *("golden.json", "metrics.json", "evaluation.json", "conversion.json"),
    *("rewrite.json", "check.json", "verdict.json"),
)


def picture(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(F32)


def report_of(made: Pipeline) -> Report:
    documents: dict[str, Any] = {role: made.document(role) for role in READ}
    documents["warnings.json"] = {"schema_version": 1, "warnings": []}
    documents["nodes.json"] = {"schema_version": 1, "nodes": {}}
    return collect(documents)


def test_of_two_behaviours_the_worse_is_judged_named_and_reported(tmp_path: Path) -> None:
    """RS01, for a CANN of which no source says what half_pixel becomes."""
    x = picture(1, 3, 6, 8)
    made = simplified(tmp_path, resize_chain("half_pixel"), x=x)

    verdict = made.judge(cann="9.1")

    golden = made.golden_of("u14")
    wrong = models.run(resize_chain("asymmetric"), {"x": x})["u14"]
    right = TensorSet(made.made("outputs")).load(0, "u14")
    left = TensorSet(made.made("outputs") / ALTERNATIVE).load(0, "u14")
    assert cosine(golden, right) > 0.999999
    assert cosine(left, wrong) > 0.999999
    (check,) = verdict["checks"]
    assert not verdict["passed"]
    assert check["value"] == pytest.approx(0.5647, abs=1e-3)
    assert check["behaviour"] == AS_ASYMMETRIC
    assert verdict["emulation"]["behaviours"] == {
        "names": [HONOURED, AS_ASYMMETRIC],
        "nodes": AS_ASYMMETRIC,
    }
    assert verdict["first_divergent_node"]["name"] == "u0"
    report = report_of(made)
    (line,) = unknown_lines(report)
    assert line.startswith("unknown on CANN 9.1: resize-half-pixel (8 nodes): either ")
    assert "both were computed, the worse is shown" in line
    told = failure_message(verdict, report)
    assert f"0.564656 if {AS_ASYMMETRIC}, must be" in told
    assert "possible cause: resize-half-pixel, here and at 7 more nodes" in told
    assert "rewrite: {rules: [resize-half-pixel]}" in told
    assert line in render(report)


def test_the_rule_leaves_one_behaviour_and_nothing_to_report(tmp_path: Path) -> None:
    """RS01."""
    made = simplified(tmp_path, resize_chain("half_pixel"), x=picture(1, 3, 6, 8))

    verdict = made.judge(HALF_PIXEL, cann="9.1")

    assert verdict["passed"]
    assert verdict["checks"][0]["value"] > 0.999999
    assert "behaviours" not in verdict["emulation"]
    assert not (made.made("outputs") / ALTERNATIVE).exists()
    assert list(unknown_lines(report_of(made))) == []


CASES = {
    # name: model, the rule, and the deviation that fails without it
    "RS02": (
        resize([1, 1, 4, 6], sizes=[1, 1, 1, 6], mode="linear"),
        MATMUL,
        "resize-length-one",
    ),
    "RS06": (
        resize([1, 1, 16, 16], sizes=[1, 1, 5, 5], mode="linear", antialias=1, opset=18),
        MATMUL,
        "resize-ignored-attr",
    ),
    "nearest-mode": (
        resize(
            [1, 1, 8, 8],
            sizes=[1, 1, 3, 3],
            mode="nearest",
            nearest_mode="ceil",
            coordinate_transformation_mode="asymmetric",
        ),
        "resize-nearest-gather",
        "resize-nearest-attr",
    ),
    "GR19": (
        resize([1, 1, 4, 4], sizes=[1, 1, 8, 8], mode="linear", antialias=0, opset=18),
        HALF_PIXEL,
        HALF_PIXEL,
    ),
}


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
@pytest.mark.parametrize("case", CASES)
def test_what_cann_reads_otherwise_fails_and_passes_with_the_rule(
    case: str, cann: str, tmp_path: Path
) -> None:
    proto, rule, deviation = CASES[case]
    shape = [each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim]
    target: dict[str, Any] = {"cann": cann, "soc_version": "Ascend910B1"}

    plain = simplified(tmp_path / "plain", proto, x=picture(*shape)).judge(**target)
    made = simplified(tmp_path / "cured", proto, x=picture(*shape))
    cured = made.judge(rule, **target)

    assert not plain["passed"]
    assert deviation in {each["deviation"] for each in plain["emulation"]["applied"]}
    assert cured["passed"]
    assert made.document("check.json")["promises"][0]["held"]
    assert [e["deviation"] for e in cured["emulation"]["applied"] if e["nodes"]] == []


@pytest.mark.parametrize(
    "kind",
    [{}, {"cubic_coeff_a": -0.5}, {"cubic_coeff_a": -0.5, "exclude_outside": 1}],
    ids=str,
)
def test_cubic_is_refused_before_the_build_and_passes_with_the_rule(
    kind: dict[str, Any], tmp_path: Path
) -> None:
    """RS07."""
    proto = resize([1, 1, 6, 6], sizes=[1, 1, 9, 9], mode="cubic", **kind)
    x = picture(1, 1, 6, 6)

    with pytest.raises(StageError, match=r"CANN 8.1 refuses:\n.*'resize'.*'cubic'"):
        simplified(tmp_path / "plain", proto, x=x).judge()
    made = simplified(tmp_path / "cured", proto, x=x)

    assert made.judge(MATMUL)["passed"]
    assert made.document("check.json")["promises"] == [
        {"rule": MATMUL, "effect": "equivalent", "held": True}
    ]


def opset_10() -> onnx.ModelProto:
    return resize([1, 1, 2, 2], scales=[1, 1, 2, 2], opset=10, mode="linear")


def test_opset_10_is_right_up_to_8_4_and_unknown_later(tmp_path: Path) -> None:
    """RS04: it samples asymmetrically, as the parser's default does only by accident."""
    x = np.arange(4, dtype=F32).reshape(1, 1, 2, 2)

    old = simplified(tmp_path / "old", opset_10(), x=x).judge()
    new = simplified(tmp_path / "new", opset_10(), x=x).judge(cann="9.1")
    made = simplified(tmp_path / "cured", opset_10(), x=x)
    cured = made.judge(MATMUL, cann="9.1")

    assert old["passed"]
    assert not new["passed"]
    assert new["checks"][0]["behaviour"] == HONOURED
    assert new["emulation"]["applied"][0]["deviation"] == "resize-opset10-ctm"
    assert cured["passed"]
    np.testing.assert_array_equal(made.emulated(), made.golden_of())
