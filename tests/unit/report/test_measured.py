from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascendflow.metrics.nodes import NodeTable, Origin
from ascendflow.report.collect import collect
from ascendflow.report.lines import failure_message
from ascendflow.report.measured import flip_lines, measured_lines
from tests.emulation import dump
from tests.models import F32, model, node
from tests.reports import check, failed, passed


def _message(documents: dict[str, Any]) -> str:
    return failure_message(documents["verdict.json"], collect(documents))


@pytest.mark.parametrize(
    ("largest", "mode", "told"),
    [
        pytest.param(65520.0, "force_fp16", True, id="beyond"),
        pytest.param(65504.0, "force_fp16", False, id="just-fits"),
        pytest.param(65520.0, "force_fp32", False, id="fp32"),
        pytest.param("NaN", "force_fp16", False, id="nan"),
    ],
)
def test_a_node_whose_values_leave_float16_says_so(
    largest: float | str, mode: str, told: bool
) -> None:
    documents = failed()
    documents["metrics.json"]["nodes"][1]["statistics"]["golden_largest"] = largest
    documents["conversion.json"]["precision_mode"] = mode
    overflow = "overflow: in ONNX its values reach 65520; the target keeps them in float16"

    assert (overflow in _message(documents)) is told


def _ran(behind: str, soc: str, mode: str) -> dict[str, Any]:
    """Multiply by itself, then add, what reaches 300 in some places and 400 in others.

    In ONNX that is 160,000 and 320,000; behind a Conv, mixed precision follows it.
    """
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[1, 1]),
        node("Mul", ["c", "c"], ["m"], name="mul"),
        node("Add", ["m", "m"], ["a"], name="add"),
        node("Sigmoid", ["a"], ["y"], name="end"),
    ]
    x = np.linspace(-400, 400, 64, dtype=F32).reshape(1, 1, 8, 8)
    one = {"w": np.ones((1, 1, 1, 1), F32)}
    proto = model(nodes, [("x", x.shape)], [("y", x.shape)], one)
    there = dump(proto, {"x": x}, soc_version=soc, precision_mode=mode)
    table = NodeTable()
    for name, golden in {"c": x, "m": x * x, "a": 2 * x * x}.items():
        table.add(name, golden, there[name])
    inputs = {"c": ("x",), "m": ("c", "c"), "a": ("m", "m")}
    types = {"c": "Conv", "m": "Mul", "a": "Add"}
    origins = [Origin(name, name, types[name], inputs[name]) for name in types]
    documents = failed()
    documents["metrics.json"]["nodes"] = table.result(origins, {})
    documents["conversion.json"]["precision_mode"] = mode
    named = {"name": behind, "tensor": behind, "op_type": types[behind]}
    documents["verdict.json"]["first_divergent_node"] |= named
    return documents


@pytest.mark.parametrize("mode", ["force_fp16", "allow_mix_precision"])
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910B1"])
@pytest.mark.parametrize(
    ("behind", "told"),
    [
        ("m", "its values reach 160000"),
        ("a", "its values reach 320000"),
        ("c", None),
    ],
)
def test_what_data_makes_overflow_is_told_from_the_numbers_in_any_mode(
    behind: str, told: str | None, soc: str, mode: str
) -> None:
    message = _message(_ran(behind, soc, mode))

    assert ("overflow" in message) is (told is not None)
    if told is not None:
        words = "the target keeps them in float16, which ends at 65504"
        assert f"overflow: in ONNX {told}; {words}" in message
        assert f"`convert: {{keep_dtype: [{behind}]}}`" in message


def test_what_fp32_holds_is_no_overflow_however_large() -> None:
    mode = "must_keep_origin_dtype"

    assert "overflow" not in _message(_ran("m", "Ascend910B1", mode))


def test_values_that_left_float16_before_the_divergent_node_are_told_there() -> None:
    documents = failed()
    nodes = documents["metrics.json"]["nodes"]
    nodes[0]["statistics"] = {"golden_largest": 70000.0, "target_largest": 65504.0}
    nodes[1]["statistics"] = {"golden_largest": 2.0, "target_largest": 1.0}

    message = _message(documents)

    assert (
        "overflow: in ONNX the values of /conv/Conv (Conv), which it reads, reach 70000"
    ) in message
    assert "{name: scale-conv, nodes: [/conv/Conv], scale: 4}" in message


def _small(documents: dict[str, Any], zeroed: int, explained: float | str) -> str:
    documents["metrics.json"]["nodes"][1]["underflow"] = {
        "tiny": 500,
        "zeroed": zeroed,
        "elements": 512,
        "explained": explained,
    }
    return _message(documents)


def test_a_node_whose_values_vanish_in_float16_says_so_with_numbers() -> None:
    vanished, rounded = _small(failed(), 400, 1.0), _small(failed(), 0, 0.6)

    assert (
        "gate: underflow: in ONNX 500 of its 512 values are below 6.1e-05 and not 0, and "
        "400 of them are 0 on the target; to round them to float16, whose smallest number "
        "is 6e-08, makes such an error"
    ) in vanished
    assert "underflow: in ONNX 500 of its 512 values are below 6.1e-05 and not 0; to" in (
        rounded
    )


@pytest.mark.parametrize(
    "explained",
    [
        pytest.param(0.4, id="the-error-is-larger"),
        pytest.param(1e6, id="the-target-does-not-round-so"),
        pytest.param("NaN", id="no-error"),
    ],
)
def test_an_error_that_rounding_does_not_make_is_no_underflow(
    explained: float | str,
) -> None:
    assert "underflow" not in _small(failed(), 400, explained)


def _flipped(places: dict[str, Any] | None, problem: str | None = None) -> dict[str, Any]:
    documents = failed()
    judged = check("mismatch_rate", 0.25, {"max": 0}, subject="classes")
    documents["verdict.json"]["checks"] = [judged]
    documents["metrics.json"]["flips"] = [
        {
            "output": "classes",
            "sample": "test-07",
            "node": "/head/ArgMax",
            "op_type": "ArgMax",
            "values": "logits",
            "places": places,
            "problem": problem,
        }
    ]
    return documents


PLACES = {
    "places": 8,
    "differing": 6,
    "tied": 1,
    "near": 2,
    "largest_gap": 0.5,
    "largest_error": 0.0625,
}


def test_choices_that_differ_are_told_by_how_near_they_were() -> None:
    message = _message(_flipped(PLACES))

    assert (
        "gate: 'classes': 6 of 8 indices of /head/ArgMax (ArgMax) differ, sample "
        "'test-07': 1 where ONNX has two equal values; 2 at near ties: the two values are "
        "at most 0.5 apart in ONNX, and logits is off by up to 0.0625 there on the target; "
        "3 that no error of logits explains"
    ) in message
    assert "hint: near ties of classes turn with any rounding" in message


def test_choices_that_no_error_explains_are_called_no_near_ties() -> None:
    message = _message(_flipped({**PLACES, "near": 0, "tied": 0}))

    assert "6 that no error of logits explains" in message
    assert "near tie" not in message


@pytest.mark.parametrize(
    ("documents", "why"),
    [
        pytest.param(
            _flipped(None, "the target gives no 'logits' to compare"),
            "/head/ArgMax (ArgMax): the target gives no 'logits' to compare",
            id="not-measured",
        ),
        pytest.param(
            _flipped({**PLACES, "differing": 0}),
            "/head/ArgMax (ArgMax) chose the same in sample 'test-07'",
            id="chose-the-same",
        ),
    ],
)
def test_what_is_not_known_is_said_to_be_unknown(
    documents: dict[str, Any], why: str
) -> None:
    assert f"why 'classes' differs is not known: {why}" in _message(documents)


def test_integers_without_a_choice_before_them_have_no_known_cause() -> None:
    documents = _flipped(PLACES)
    documents["metrics.json"]["flips"] = []

    (line,) = flip_lines(collect(documents))

    assert line == (
        "why 'classes' differs is not known: no ArgMax, ArgMin or TopK was compared on the "
        "way to it"
    )


def test_an_output_that_passes_needs_no_cause() -> None:
    documents = passed()
    documents["metrics.json"]["flips"] = _flipped(PLACES)["metrics.json"]["flips"]

    assert list(measured_lines(collect(documents))) == []
