"""Thresholds and numbers to verdicts; above all, what must not pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from ascendflow.errors import StageError
from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.verdict import judge_metric, judge_outputs

if TYPE_CHECKING:
    from ascendflow.documents.evaluation import Evaluation
    from ascendflow.documents.metrics import MetricsDocument, Pair
    from ascendflow.documents.verdict import Check

ONE = np.ones(8, np.float32)


def _document(*pairs: Pair, golden: Any, target: Any, name: str = "y") -> MetricsDocument:
    outputs = []
    for pair in pairs:
        series = OutputSeries(pair, name)
        series.add("s0", golden, target)
        outputs.append(series.result())
    return {"schema_version": 1, "outputs": outputs, "nodes": [], "node_samples": []}


def _judge(golden: Any, target: Any, **thresholds: dict[str, float]) -> list[Check]:
    document = _document("onnx-target", golden=golden, target=target)
    gate = {"*": thresholds} if thresholds else {}
    return judge_outputs(gate, document, ["y"], has_torch=False)


def _failed(checks: list[Check]) -> list[str]:
    return [check["metric"] for check in checks if not check["passed"]]


BOTH = {"cosine_similarity": {"min": 0.999}, "max_absolute_error": {"max": 0.001}}


def _spoilt(index: int, value: float) -> np.ndarray:
    tensor = ONE.copy()
    tensor[index] = value
    return tensor


FAR = (1000 + np.arange(8) * 0.01).astype(np.float32)


@pytest.mark.parametrize(
    ("golden", "target", "failed"),
    [
        pytest.param(0 * ONE, 0 * ONE, [], id="zero-zero"),
        pytest.param(0 * ONE, ONE, [*BOTH], id="zero-one"),
        pytest.param(ONE, _spoilt(3, np.nan), [*BOTH], id="one-nan"),
        pytest.param(_spoilt(3, np.nan), _spoilt(3, np.nan), [*BOTH], id="nan-nan"),
        pytest.param(
            _spoilt(2, np.inf), _spoilt(2, np.inf), ["cosine_similarity"], id="inf-inf"
        ),
        pytest.param(FAR, FAR + np.float32(0.5), ["max_absolute_error"], id="offset"),
        pytest.param(ONE * 1e-9, -ONE * 1e-9, ["cosine_similarity"], id="negated"),
        pytest.param(ONE[:0], ONE[:0], [], id="empty"),
        pytest.param(ONE, ONE.reshape(2, 4), [*BOTH], id="other-shape"),
    ],
)
def test_an_edge_case_fails_exactly_the_metrics_that_it_should(
    golden: np.ndarray, target: np.ndarray, failed: list[str]
) -> None:
    """FP10."""
    checks = [c for c in _judge(golden, target, **BOTH) if c["metric"] in BOTH]

    assert _failed(checks) == failed
    assert all(c["problem"] for c in checks if c["value"] == "NaN")


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(8,), (2, 2, 3), ()])
def test_a_nan_on_both_sides_fails_and_says_why_in_every_dtype(
    dtype: Any, shape: tuple[int, ...]
) -> None:
    """FP10."""
    nan = np.full(shape, np.nan, dtype)
    checks = _judge(nan, nan.copy(), **BOTH)

    assert {*BOTH} <= {*_failed(checks)}
    assert all(
        f"golden and target have {nan.size} NaN or infinite elements in the same places"
        in str(c["problem"])
        for c in checks
    )


def test_infinities_on_both_sides_are_equal_and_leave_no_nan_difference() -> None:
    """FP10."""
    (check,) = _judge(
        _spoilt(2, np.inf), _spoilt(2, np.inf), max_absolute_error={"max": 0.0}
    )

    assert check["value"] == 0.0
    assert check["passed"]


def test_the_same_offset_passes_a_cosine_alone() -> None:
    """FP10."""
    (check,) = _judge(FAR, FAR + np.float32(0.5), cosine_similarity={"min": 0.9999})

    assert check["passed"]


def test_without_a_gate_the_cosine_must_be_999_per_mille() -> None:
    tilted = np.concatenate([ONE, ONE])
    tilted[0] = 2.0
    (check,) = _judge(np.concatenate([ONE, ONE]), tilted)

    assert check["name"] == "onnx-target/y/cosine_similarity"
    assert check["threshold"] == {"min": 0.999}
    assert check["value"] == pytest.approx(17 / math.sqrt(16 * 19))
    assert check["sample"] == "s0"
    assert not check["passed"]


def test_the_tightest_threshold_is_the_value_itself_and_it_passes() -> None:
    checks = _judge(FAR, FAR + np.float32(0.5), **BOTH)
    tightest = {c["metric"]: c["tightest"] for c in checks}
    again = _judge(
        FAR,
        FAR + np.float32(0.5),
        cosine_similarity={"min": float(tightest["cosine_similarity"] or 0)},
        max_absolute_error={"max": float(tightest["max_absolute_error"] or 0)},
    )

    assert tightest["max_absolute_error"] == 0.5
    assert _failed(again) == []


def test_what_no_threshold_would_pass_has_no_tightest() -> None:
    checks = _judge(ONE, _spoilt(0, np.inf), max_absolute_error={"max": math.inf})

    assert _failed(checks) == ["max_absolute_error"]
    assert checks[0]["tightest"] is None
    assert checks[0]["value"] == "Infinity"
    assert checks[0]["problem"] is not None


@pytest.mark.parametrize("bound", ["min", "max"])
def test_nan_is_on_no_side_of_a_threshold(bound: str) -> None:
    checks = _judge(0 * ONE, ONE, cosine_similarity={bound: 0.0})

    assert _failed(checks) == ["cosine_similarity"]
    assert checks[0]["problem"] == (
        "is NaN; NaN never passes: one is zero throughout, the other not"
    )


def test_a_large_error_on_a_large_scale_says_which_metric_failed() -> None:
    """Three transposed convolutions in fp16: the error grows to 14 on a spread of 4500."""
    rng = np.random.default_rng(7)
    golden = half = rng.standard_normal((64, 4, 4)) * 8
    largest = []
    for channels in (64, 32, 16):
        weight = rng.standard_normal((channels, channels // 2, 2, 2)) * 1.5
        golden = _transposed(golden, weight)
        half = _transposed(half.astype(np.float16), weight.astype(np.float16))
        largest.append(float(np.abs(golden - half.astype(np.float16)).max()))
    checks = _judge(
        golden.astype(np.float32),
        half.astype(np.float16).astype(np.float32),
        **BOTH,
        range_relative_error={"max": 0.001},
    )

    assert largest[0] < 1 < largest[1] < 10 < largest[2]
    assert _failed(checks) == ["max_absolute_error"]


def _transposed(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """ConvTranspose, kernel 2, stride 2: every input makes its own 2x2 patch."""
    patches = np.einsum("chw,coij->ohiwj", x.astype(np.float64), weight.astype(np.float64))
    return np.asarray(patches.reshape(weight.shape[1], 2 * x.shape[1], 2 * x.shape[2]))


def test_an_argmax_that_flips_is_judged_by_mismatch() -> None:
    """Logits 10.0 and 10.001 are one number in fp16, so the first index wins there."""
    logits = np.array([[10.0, 10.001, 1.0], [5.0, 1.0, 0.0]], np.float32)
    (check,) = _judge(logits.argmax(1), logits.astype(np.float16).argmax(1))

    assert check["metric"] == "mismatch_rate"
    assert check["value"] == 0.5
    assert not check["passed"]


def test_a_float_threshold_for_all_outputs_leaves_integers_to_their_default() -> None:
    (check,) = _judge(np.arange(9), np.arange(9), cosine_similarity={"min": 0.5})

    assert (check["metric"], check["threshold"]) == ("mismatch_rate", {"max": 0.0})
    assert check["passed"]


def test_cosine_alone_never_passes_a_few_elements() -> None:
    golden = np.array([1.0, 2.0], np.float32)
    checks = _judge(golden, 1000 * golden, cosine_similarity={"min": 0.999})

    assert [(c["metric"], c["passed"]) for c in checks] == [
        ("cosine_similarity", True),
        ("floored_max_relative_error", False),
    ]
    assert checks[1]["threshold"] == {"max": 0.01}
    assert checks[1]["value"] == pytest.approx(999)


def test_a_few_elements_within_one_percent_pass() -> None:
    golden = np.array([1.0, 2.0])

    assert _failed(_judge(golden, golden * 1.009)) == []


def test_a_few_elements_with_a_threshold_that_sees_scale_need_no_more() -> None:
    golden = np.array([1.0, 2.0])
    checks = _judge(golden, golden + 0.5, **BOTH | {"max_absolute_error": {"max": 1.0}})

    assert {c["metric"] for c in checks} == set(BOTH)


def test_a_named_output_replaces_what_holds_for_all_in_the_same_metric_alone() -> None:
    document = _document("onnx-target", golden=ONE, target=ONE * 1.5)
    gate = {
        "*": {"max_absolute_error": {"max": 0.1}, "cosine_similarity": {"min": 0.999}},
        "y": {"cosine_similarity": {"min": 0.9}},
    }
    checks = judge_outputs(gate, document, ["y"], has_torch=False)

    told = [(check["metric"], check["threshold"], check["passed"]) for check in checks]
    assert told == [
        ("max_absolute_error", {"max": 0.1}, False),
        ("cosine_similarity", {"min": 0.9}, True),
    ]


def test_a_named_output_of_integers_leaves_out_what_holds_for_floats() -> None:
    whole = np.arange(8)
    document = _document("onnx-target", golden=whole, target=whole)
    gate = {
        "*": {"cosine_similarity": {"min": 0.999}, "mismatch_rate": {"max": 0.0}},
        "y": {"mismatch_rate": {"max": 0.1}},
    }
    (check,) = judge_outputs(gate, document, ["y"], has_torch=False)

    assert (check["metric"], check["threshold"]) == ("mismatch_rate", {"max": 0.1})


def test_a_distance_of_the_whole_does_not_pass_a_few_elements_either() -> None:
    """[100, 1] against [100, 2] is a hundredth away as a whole."""
    golden = np.array([100.0, 1.0], np.float32)
    limits = {"relative_euclidean_distance": {"max": 0.05}}
    checks = _judge(golden, golden + np.array([0.0, 1.0], np.float32), **limits)

    assert [(c["metric"], c["passed"]) for c in checks] == [
        ("relative_euclidean_distance", True),
        ("floored_max_relative_error", False),
    ]


def test_a_name_that_is_no_output_is_refused_with_the_real_ones() -> None:
    document = _document("onnx-target", golden=ONE, target=ONE, name="mask")
    wrong: Any = {"msk": {}, "*": {}, "mask": {}, "egde": {}}
    with pytest.raises(StageError) as refused:
        judge_outputs(wrong, document, ["mask", "edge"], has_torch=False)

    assert refused.value.message.splitlines() == [
        "gate: 'msk' is no output of the model",
        "gate: 'egde' is no output of the model",
    ]
    assert refused.value.hint == "its outputs are 'mask', 'edge'; '*' stands for all"
    assert refused.value.keys == ("gate", "outputs", "msk")

    with pytest.raises(StageError) as refused:
        judge_outputs({"msk": {}}, document, ["mask", "edge"], has_torch=False)

    assert refused.value.hint == "did you mean 'mask'?"


def test_asking_an_integer_output_by_name_for_its_cosine_is_refused() -> None:
    document = _document("onnx-target", golden=np.arange(9), target=np.arange(9))
    gate = {"y": {"cosine_similarity": {"min": 0.9}}}

    with pytest.raises(
        StageError, match="integers or booleans, for which there is no cosine"
    ):
        judge_outputs(gate, document, ["y"], has_torch=False)


def test_an_output_that_was_not_compared_fails() -> None:
    document = _document("onnx-target", golden=ONE, target=ONE, name="other")
    (check,) = judge_outputs({}, document, ["y"], has_torch=False)

    assert not check["passed"]
    assert check["problem"] == "was not compared"


def test_an_output_missing_in_one_sample_fails_whatever_the_others_say() -> None:
    series = OutputSeries("onnx-target", "y")
    series.add("s0", ONE, ONE)
    series.add("s1", ONE, None)
    document: MetricsDocument = {
        "schema_version": 1,
        "outputs": [series.result()],
        "nodes": [],
        "node_samples": [],
    }
    (check,) = judge_outputs({}, document, ["y"], has_torch=False)

    assert not check["passed"]
    assert check["sample"] == "s1"
    assert check["problem"] == "sample 's1': the target has no such output"


def test_with_pytorch_all_three_are_judged_pairwise() -> None:
    document = _document("onnx-target", "torch-onnx", golden=ONE, target=ONE)
    checks = judge_outputs({}, document, ["y"], has_torch=True)

    assert [(c["pair"], c["passed"]) for c in checks] == [
        ("onnx-target", True),
        ("torch-onnx", True),
        ("torch-target", False),  # it was not compared
    ]


def test_an_export_beyond_a_threshold_fails_though_the_target_follows_it() -> None:
    exported = ONE + np.float32(0.01)
    document = _document("torch-onnx", golden=ONE, target=exported)
    document["outputs"] += [
        *_document("onnx-target", golden=exported, target=exported)["outputs"],
        *_document("torch-target", golden=ONE, target=ONE)["outputs"],
    ]
    gate = {"*": {"max_absolute_error": {"max": 0.001}}}
    checks = judge_outputs(gate, document, ["y"], has_torch=True)

    assert [c["pair"] for c in checks if not c["passed"]] == ["torch-onnx"]


def _scores(direction: Any, golden: float, target: float) -> Evaluation:
    return {
        "schema_version": 1,
        "metric": "mean_iou",
        "direction": direction,
        "torch": None,
        "onnx": golden,
        "target": target,
    }


@pytest.mark.parametrize(
    ("direction", "golden", "target", "drop", "passed"),
    [
        pytest.param("higher", 0.8, 0.796, 0.005, True, id="a-small-drop"),
        pytest.param("higher", 0.782, 0.623, 0.159 / 0.782, False, id="a-large-drop"),
        pytest.param("higher", 0.8, 0.9, -0.125, True, id="an-improvement"),
        pytest.param("lower", 0.2, 0.3, 0.5, False, id="a-rise-of-a-loss"),
        pytest.param("lower", 0.2, 0.1, -0.5, True, id="a-fall-of-a-loss"),
        pytest.param("higher", -2.0, -3.0, 0.5, False, id="below-zero"),
        pytest.param("lower", 9.573, 9.573, 0.0, True, id="the-same-word-error-rate"),
        pytest.param("lower", 9.5, 11.0, 1.5 / 9.5, False, id="a-worse-word-error-rate"),
        pytest.param("higher", 9.5, 11.0, -1.5 / 9.5, True, id="judged-the-wrong-way"),
    ],
)
def test_the_end_metric_may_fall_only_so_far(
    direction: str, golden: float, target: float, drop: float, passed: bool
) -> None:
    """IO07."""
    gate = {"max_relative_drop": 0.01, "against": "onnx"}
    check = judge_metric(gate, _scores(direction, golden, target))

    assert check["value"] == pytest.approx(drop)
    assert check["passed"] is passed
    assert check["subject"] == "mean_iou"
    assert check["threshold"] == {"max": 0.01}


@pytest.mark.parametrize("golden", [0.0, math.nan, math.inf])
def test_nothing_can_fall_relative_to_zero_or_nan(golden: float) -> None:
    gate = {"max_relative_drop": 10.0, "against": "onnx"}
    check = judge_metric(gate, _scores("higher", golden, 0.5))

    assert not check["passed"]
    assert check["value"] == "NaN"


def test_a_nan_of_the_target_is_no_drop_of_zero() -> None:
    gate = {"max_relative_drop": 10.0, "against": "onnx"}

    assert not judge_metric(gate, _scores("higher", 0.8, math.nan))["passed"]


def test_a_drop_against_a_model_that_is_not_there_is_refused() -> None:
    gate = {"max_relative_drop": 0.01, "against": "torch"}

    with pytest.raises(StageError, match="against is 'torch'"):
        judge_metric(gate, _scores("higher", 0.8, 0.8))
