"""Lint's text: what is grouped, what is named, and which one step comes last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.report.lint_text import FIRST, Looked, lint_text, next_step

if TYPE_CHECKING:
    from ascendflow.documents.lint import Lint


def found(node: str | None, deviation: str = "pool-same-lower", **changes: Any) -> Any:
    return {
        "deviation": deviation,
        "consequence": "silent",
        "stops_convert": False,
        "node": node,
        "op_type": None if node is None else "MaxPool",
        "reason": "its pads are swapped",
        "confidence": "medium",
        "source": "somewhere",
        "rule": "auto-pad-to-pads",
        "skipped": None,
        "advice": None,
        **changes,
    }


def document(*findings: Any) -> Lint:
    names = ("rejected", "silent", "precision", "unknown")
    totals = {each: sum(f["consequence"] == each for f in findings) for each in names}
    return {
        "schema_version": 1,
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "nodes": 200,
        "unread": 0,
        "totals": totals,
        "deviations": {},
        "findings": list(findings),
    }


def lines(*findings: Any) -> list[str]:
    return lint_text("m.onnx", document(*findings), Looked("a note")).splitlines()


def test_a_hundred_equal_findings_are_one_paragraph() -> None:
    told = lines(*(found(f"pool{n}") for n in range(100)))

    assert told[:4] == [
        "warning: silent: 100 nodes (MaxPool): its pads are swapped [pool-same-lower]",
        "  'pool0', 'pool1', 'pool2', 'pool3', ... and 96 more; --format json lists all",
        "  cure: rule auto-pad-to-pads",
        "  confidence medium: somewhere",
    ]
    assert told[4].startswith("m.onnx: 0 rejected, 100 silent")
    assert told[5:] == ["a note", told[-1]]
    assert told[-1].startswith("next: ")


def test_reasons_that_differ_are_told_of_the_first() -> None:
    told = lines(*(found(f"p{n}", reason=f"pads {n}") for n in range(FIRST + 2)))

    assert told[0] == "warning: silent: 6 nodes [pool-same-lower]"
    assert told[1:5] == [f"  node 'p{n}' (MaxPool): pads {n}" for n in range(4)]
    assert told[5] == "  ... and 2 more; --format json lists all"


def test_as_many_as_are_named_leave_no_rest() -> None:
    told = "\n".join(lines(*(found(f"p{n}") for n in range(FIRST))))

    assert "'p3'\n" in told
    assert "more" not in told


def test_a_name_that_nodes_share_is_told_once() -> None:
    assert lines(*(found("anon") for _ in range(15)))[1] == "  'anon'"


@pytest.mark.parametrize(
    "change",
    [
        {"consequence": "precision"},
        {"deviation": "pool-indices"},
        {"skipped": "its lengths are not known"},
        {"node": None},
    ],
)
def test_what_differs_in_more_than_its_reason_stands_alone(change: Any) -> None:
    told = lines(found("a"), {**found("b"), **change})

    assert sum(line.startswith(("warning:", "note:")) for line in told) == 2


def test_findings_of_the_whole_model_are_never_nodes() -> None:
    told = lines(found(None), found(None))

    assert [line for line in told if "the model: its pads are swapped" in line] == [
        "warning: silent: the model: its pads are swapped [pool-same-lower]"
    ] * 2


def test_reasons_to_skip_that_differ_are_not_told_as_one() -> None:
    told = lines(found("a", skipped="because of a"), found("b", skipped="because of b"))

    skips = "rule auto-pad-to-pads is against it, but skips these nodes, each for its own"
    assert told[2] == f"  {skips} reason; --format json has them"


def test_confidences_of_one_group_are_all_told() -> None:
    told = lines(found("a", confidence="high"), found("b"))

    assert told[3] == "  confidence high or medium: somewhere"


def test_a_name_that_a_terminal_would_obey_is_spelled_out() -> None:
    told = lint_text("m.onnx", document(found("a\x1b[2J"), found("b")), Looked("x\x1b"))

    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("rule", "cost"),
    [
        ("clamp-constants", "constants beyond 65504 become 65504"),
        ("raise-epsilon", "results change where what the epsilon guards is near 0"),
    ],
)
def test_a_lossy_cure_says_what_it_costs_and_how_to_write_it(rule: str, cost: str) -> None:
    cure = lines(found("a", rule=rule))[1]

    assert cure.startswith(f"  cure: rule {rule}, lossy: {cost}")
    assert f"auto leaves it out, write `rewrite: {{rules: [auto, {rule}], allow" in cure


def test_what_stops_a_pipeline_is_told_first() -> None:
    less = found("a", consequence="precision")
    stops = found("b", consequence="unknown", stops_convert=True)
    heads = [line for line in lines(less, stops) if line.startswith(("error", "note"))]

    assert [head.partition(":")[0] for head in heads] == ["error", "note"]


def test_a_length_to_be_filled_in_says_so() -> None:
    told = next_step("m.onnx", document(), Looked("", "--shape x:?,3", is_open=True))

    assert told.startswith("add `--shape x:?,3`, with a number for each ?: ")


INIT = "`ascendflow init NAME --onnx m.onnx`"
NO_RULE: dict[str, Any] = {"rule": None}


@pytest.mark.parametrize(
    ("findings", "told"),
    [
        ((), f"{INIT} starts a pipeline, which compares values"),
        (
            (found("a"), found("b", rule="clip-unbounded")),
            (
                f"`rewrite: {{rules: auto}}` in the manifest ({INIT} writes one) applies "
                "auto-pad-to-pads, clip-unbounded"
            ),
        ),
        (
            (found("a"), found("b", **NO_RULE), found("c", skipped="it is odd")),
            (
                f"`rewrite: {{rules: auto}}` in the manifest ({INIT} writes one) applies "
                "auto-pad-to-pads; no rule cures the other 2, see above"
            ),
        ),
        (
            (found("a", rule="raise-epsilon", consequence="precision"),),
            (
                "`rewrite: {rules: [auto, raise-epsilon], allow_lossy: true}`, if the gate "
                "is to judge what that costs, see above"
            ),
        ),
        (
            (found("a"), found("b", rule="raise-epsilon", consequence="precision")),
            (
                f"`rewrite: {{rules: auto}}` in the manifest ({INIT} writes one) applies "
                "auto-pad-to-pads; not raise-epsilon: lossy, so write by hand, see above"
            ),
        ),
        (
            (found("a", **NO_RULE), found("b", **NO_RULE, consequence="unknown")),
            "change 2 nodes that no rule cures, see above",
        ),
        (
            (found("a", **NO_RULE, consequence="precision"),),
            f"{INIT} starts a pipeline, which compares values",
        ),
        (
            (found("a"), found(None, **NO_RULE, consequence="rejected", reason="opset 20")),
            "first what is wrong with the whole model, see above: opset 20",
        ),
    ],
    ids=["clean", "auto", "some", "lossy", "auto-and-lossy", "none", "precision", "whole"],
)
def test_there_is_one_next_step(findings: tuple[Any, ...], told: str) -> None:
    assert next_step("m.onnx", document(*findings), Looked("")) == told


AGAIN = "add `--simplify`: some findings go away by that, or come"


@pytest.mark.parametrize(
    ("findings", "looked", "told"),
    [
        pytest.param((), Looked("", "--simplify", is_open=True), AGAIN, id="open"),
        pytest.param(
            (found("a"), found("b", **NO_RULE, reason="its shape [n] is not fixed")),
            Looked("", "--simplify"),
            AGAIN,
            id="not-fixed",
        ),
        pytest.param(
            (found("a", "name-repeated", **NO_RULE, consequence="rejected"),),
            Looked("", "--simplify"),
            AGAIN,
            id="name-repeated",
        ),
        pytest.param(
            (found("a", **NO_RULE),),
            Looked("", "--simplify"),
            "change 1 node that no rule cures, see above",
            id="stays",
        ),
        pytest.param(
            (found("a", **NO_RULE, reason="its shape [n] is not fixed"),),
            Looked(""),
            "change 1 node that no rule cures, see above",
            id="simplified",
        ),
        pytest.param(
            (found("a"),),
            Looked("", is_made=True),
            "`rewrite: {rules: auto}` in the manifest applies auto-pad-to-pads",
            id="made-with-a-cure",
        ),
        pytest.param(
            (),
            Looked("", is_made=True),
            "the pipeline that made it, whose gate compares values",
            id="made",
        ),
    ],
)
def test_the_next_step_is_that_of_what_was_looked_at(
    findings: tuple[Any, ...], looked: Looked, told: str
) -> None:
    assert next_step("m.onnx", document(*findings), looked) == told


def test_each_advice_stands_by_what_it_is_for() -> None:
    random = found("a", **NO_RULE, advice="take it out")
    told = lines(random, found("b", **NO_RULE, advice="cast it"))

    assert [line for line in told if "no rule cures it;" in line] == [
        "  no rule cures it; take it out",
        "  no rule cures it; cast it",
    ]


@pytest.mark.parametrize(("stopped", "word"), [(1, "1 stops"), (2, "2 stop")])
def test_how_many_of_the_unknown_stop_convert_is_told_beside_their_number(
    stopped: int, word: str
) -> None:
    unknown = [
        found(str(n), consequence="unknown", stops_convert=n < stopped) for n in range(3)
    ]
    assert any(
        f"3 unknown ({word} convert) (200 nodes; " in line for line in lines(*unknown)
    )


def test_the_pipeline_is_started_with_the_lengths_that_were_given() -> None:
    looked = Looked("", shapes="--shape x:1,3")

    assert next_step("m.onnx", document(), looked).startswith(
        "`ascendflow init NAME --onnx m.onnx --shape x:1,3` starts"
    )
