from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.report.collect import collect
from ascendflow.report.lines import (
    check_words,
    failure_message,
    golden_words,
    rewritten_words,
    unknown_lines,
    verdict_line,
)
from ascendflow.report.words import FLOORED
from tests.reports import CURED, check, failed, passed, rule_entry, undecided

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def _message(documents: dict[str, Any]) -> str:
    report = collect(documents)
    return failure_message(documents["verdict.json"], report)


def test_a_failure_tells_check_node_place_cause_cure_and_fall(
    snapshot: SnapshotAssertion,
) -> None:
    message = _message(failed())

    assert message == snapshot
    node = "/up3/Resize (Resize, ResizeBilinearV2 on the target): cosine_similarity 0.57"
    assert f"first divergent node: {node}" in message
    assert "cosine_similarity is 0.9312, must be >= 0.999" in message
    assert "(onnx-target, worst sample 'test-07')" in message
    assert "PyTorch 0.8125, ONNX 0.8, emulated target 0.7" in message
    assert "comes from up3 at model.py:42" in message
    assert f"rewrite: {{rules: [{CURED}]}}" in message


def test_a_failure_names_every_rule_that_auto_would_add() -> None:
    documents = failed()
    one: dict[str, Any] = {**documents["conversion.json"]["applied"][0]}
    documents["conversion.json"]["applied"] += [
        {**one, "deviation": "other", "rule": "ceil-mode-to-pads"},
        {**one, "deviation": "lossy", "rule": "clamp-constants"},
        {**one, "deviation": "told", "rule": "scale-conv"},
    ]
    lines = _message(documents).splitlines()
    (hint,) = [line for line in lines if "rules: auto}" in line]

    assert hint == (
        "  hint: `rewrite: {rules: auto}` applies every rule that the target needs and "
        "that changes nothing beyond rounding; here that would add resize-half-pixel, "
        "ceil-mode-to-pads"
    )


@pytest.mark.parametrize("deviations", [{}, {"resize-half-pixel": ["/up3/Resize"]}])
def test_auto_is_no_hint_where_it_would_add_nothing(deviations: dict[str, Any]) -> None:
    documents = failed()
    named = {**rule_entry(CURED), "deviations": deviations}
    documents["rewrite.json"]["rules"] = [named]

    assert "rules: auto" not in _message(documents)


def test_a_failure_under_emulation_is_never_called_measured() -> None:
    message = _message(failed())

    assert "measured" not in message
    assert "emulated, not run on a device" in message
    assert "a device run confirms" in message


def test_a_failure_on_a_device_is_not_called_emulated() -> None:
    documents = failed()
    for name in ("verdict.json", "conversion.json"):
        documents[name].update(backend="cann", is_real_device=True)
    documents["conversion.json"]["applied"] = []

    message = _message(documents)

    assert "emulat" not in message
    assert "measured on a device" in message


def test_a_failure_is_short_however_many_checks_fail() -> None:
    documents = failed()
    one = documents["verdict.json"]["checks"][0]
    documents["verdict.json"]["checks"] = [{**one, "subject": str(n)} for n in range(99)]

    message = _message(documents)

    assert len(message.splitlines()) < 20
    assert "91 more checks failed" in message


def test_a_check_without_a_number_tells_its_problem() -> None:
    judged = check(
        "cosine_similarity", "NaN", {"min": 0.999}, problem="is NaN; NaN never passes"
    )

    assert check_words(judged) == (
        "'mask': cosine_similarity must be >= 0.999 (onnx-target, worst sample 'test-07'): "
        "is NaN; NaN never passes"
    )


def test_an_infinite_value_says_that_it_never_passes() -> None:
    judged = check("max_absolute_error", "Infinity", {"max": 0.1})

    assert "is Infinity" in check_words(judged)
    assert "never passes" in check_words(judged)


def test_a_problem_of_a_sample_names_the_sample_once() -> None:
    judged = check(
        "cosine_similarity",
        "NaN",
        {"min": 0.999},
        problem="sample 'test-07': golden is float32, target float16",
    )

    assert check_words(judged).count("test-07") == 1


def test_an_export_that_fails_is_not_blamed_on_the_target() -> None:
    documents = failed()
    documents["verdict.json"]["first_divergent_node"] = None
    one = check("cosine_similarity", 0.9, {"min": 0.999}, pair="torch-onnx")
    documents["verdict.json"]["checks"] = [one]
    message = _message(documents)

    assert "(torch-onnx, worst sample 'test-07')" in message
    assert "hint: in torch-onnx the target has no part" in message
    assert "hint: in torch-onnx" not in _message(failed())


@pytest.mark.parametrize(
    ("relative", "is_rounding"), [(5.7e-8, True), (2e-6, False), ("NaN", False)]
)
def test_limit_below_the_rounding_of_float32_is_not_blamed_on_the_exporter(
    relative: Any, *, is_rounding: bool
) -> None:
    documents = failed()
    one = check("max_absolute_error", 5.7e-8, {"max": 1e-9}, pair="torch-onnx")
    documents["verdict.json"].update(checks=[one], first_divergent_node=None)
    (output,) = documents["metrics.json"]["outputs"]
    measured = {"worst": relative, "mean": relative, "worst_sample": "test-07"}
    metrics = {"range_relative_error": measured}
    documents["metrics.json"]["outputs"].append(
        {**output, "pair": "torch-onnx", "metrics": metrics}
    )
    message = _message(documents)

    tightest = "tightest that passes there is 'mask' max_absolute_error 5.7e-08"
    assert (tightest in message) is is_rounding
    assert ("differs from PyTorch by float32's own rounding" in message) is is_rounding
    assert ("try another export.exporter" in message) is not is_rounding


def test_a_check_that_the_manifest_does_not_name_is_explained_once() -> None:
    documents = failed()
    documents["metrics.json"]["outputs"][0]["smallest_size"] = 4
    judged = check(FLOORED, 0.3, {"max": 0.01})
    documents["verdict.json"]["checks"] = [judged, {**judged, "pair": "torch-target"}]

    (hint,) = [line for line in _message(documents).splitlines() if "elements" in line]

    assert hint == (
        "  hint: mask has 4 elements, where cosine similarity says little, so max relative "
        "error (denominator at least 1e-6 of the golden's range) is judged too; name "
        "max_relative_error under gate.outputs.mask to set the limit yourself"
    )


def test_a_failed_check_that_the_manifest_names_needs_no_such_hint() -> None:
    assert "elements" not in _message(failed())


@pytest.mark.parametrize(
    ("cosine", "told"),
    [(0.999997, "0.999997"), (1 - 2e-7, "1 - 2e-07"), (1.0, "1"), (1 + 3e-16, "1 + ")],
)
def test_a_drop_too_small_for_six_digits_is_told_all_the_same(
    cosine: float, told: str
) -> None:
    documents = failed()
    node = documents["verdict.json"]["first_divergent_node"]
    node["reason"], node["metrics"] = "largest_drop", {"cosine_similarity": cosine}

    assert f"(Resize, ResizeBilinearV2 on the target): cosine_similarity {told}" in (
        _message(documents)
    )


@pytest.mark.parametrize(
    ("findings", "told"),
    [
        pytest.param(
            {"skipped": [{"node": "/up3/Resize", "op_type": "Resize", "reason": "H is 1"}]},
            "skipped the node: H is 1",
            id="skipped",
        ),
        pytest.param(
            {
                "applied": [
                    {"node": "/up3/Resize", "op_type": "Resize", "before": {}, "after": {}}
                ]
            },
            "was applied to this node already and is not enough",
            id="applied",
        ),
        pytest.param({}, "add this node to the `nodes` of rule", id="other-nodes"),
    ],
)
def test_a_rule_that_the_manifest_names_already_is_not_proposed_again(
    findings: dict[str, Any], told: str
) -> None:
    documents = failed()
    documents["rewrite.json"]["rules"] = [{**rule_entry(CURED), **findings}]

    message = _message(documents)

    assert told in message
    assert "rules: [" not in message


def test_a_first_rule_is_not_written_over_the_others() -> None:
    documents = failed()
    documents["rewrite.json"]["rules"] = [rule_entry("other")]

    message = _message(documents)

    assert f"add {CURED} to `rewrite.rules`" in message


def test_a_node_without_a_known_deviation_says_so() -> None:
    documents = failed()
    del documents["conversion.json"]["applied"][0]

    message = _message(documents)

    assert "no emulated deviation is particular to this node" in message
    assert "precision-force_fp16 (emulated, confidence high)" in message
    assert "rewrite" not in message


def test_a_largest_drop_is_not_called_divergent() -> None:
    documents = failed()
    documents["verdict.json"]["first_divergent_node"]["reason"] = "largest_drop"

    message = _message(documents)

    assert "no node is beyond a limit; largest drop of cosine similarity" in message
    assert "first divergent node" not in message


def test_a_node_with_infinities_of_its_own_says_so() -> None:
    documents = failed()
    node = documents["verdict.json"]["first_divergent_node"]
    node["reason"], node["metrics"] = "nonfinite", {"cosine_similarity": "NaN"}

    message = _message(documents)

    assert "the target has NaN or infinities that the golden has not" in message
    assert "cosine_similarity NaN" in message


def test_a_name_cannot_write_to_the_terminal() -> None:
    documents = failed()
    node = documents["verdict.json"]["first_divergent_node"]
    node["name"] = "\x1b]0;owned\x07\n[/up3/Resize]"
    documents["verdict.json"]["checks"][0]["subject"] = "\x1b[2Jmask"

    message = _message(documents)

    assert "\x1b" not in message
    assert "\x07" not in message
    assert "[/up3/Resize]" in message


def test_a_pass_is_told_in_one_line() -> None:
    line = verdict_line(passed()["verdict.json"])

    assert line == (
        "pan: passed (1 check; CANN 8.1, Ascend310P3, force_fp16; "
        "emulated, not run on a device)"
    )


@pytest.mark.parametrize(
    ("effect", "moved", "words"),
    [
        ("exact", 0.0, f"{CURED}@1 (1 node): golden unchanged in onnxruntime"),
        (
            "lossy",
            9.0,
            f"{CURED}@1 (1 node, lossy): golden moved by up to 9 (max absolute error) in",
        ),
    ],
)
def test_what_rules_did_to_the_golden_is_told(
    effect: str, moved: float, words: str
) -> None:
    """RS01, RS02."""
    documents = passed()
    documents["rewrite.json"]["rules"][0]["effect"] = effect
    documents["check.json"]["outputs"] = {
        "mask": {"max_absolute_error": moved, "range": 10.0},
        "edge": {"max_absolute_error": 0.0, "range": 1.0},
    }

    assert rewritten_words(collect(documents)).startswith(f"rewritten by {words}")


def test_rules_that_applied_to_nothing_are_not_told_of() -> None:
    documents = passed()
    documents["rewrite.json"]["rules"][0]["applied"] = []

    assert not rewritten_words(collect(documents))


def test_what_computed_the_golden_is_told() -> None:
    """OP08, FP12."""
    assert golden_words(collect(passed())) == "onnxruntime, graph optimisation off"


def test_what_no_source_says_is_told_with_both_behaviours() -> None:
    message = _message(undecided())

    assert "'mask': cosine_similarity is 0.9312 if the other, must be >= 0.999" in message
    assert (
        "gate: unknown on CANN 8.1: resize-half-pixel (2 nodes): either the one, or the "
        "other; both were computed, the worse is shown" in message
    )
    assert "gate: possible cause: resize-half-pixel, here and at 1 more node" in message
    assert "known cause" not in message


def test_what_is_known_needs_no_such_line() -> None:
    assert list(unknown_lines(collect(failed()))) == []
    assert list(unknown_lines(collect(passed()))) == []
