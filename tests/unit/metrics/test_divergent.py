from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.metrics.divergent import (
    divergent_outputs,
    first_divergent_node,
    why_divergent,
)
from ascendflow.metrics.nodes import NodeTable, Origin
from ascendflow.metrics.outputs import OutputSeries
from ascendflow.metrics.verdict import judge_outputs

if TYPE_CHECKING:
    from ascendflow.documents.metrics import MetricsDocument, NodeComparison, Pair

GOOD = {"cosine_similarity": 1.0, "relative_euclidean_distance": 0.0}


def _node(
    tensor: str, metrics: dict[str, Any] | None = None, **changes: Any
) -> NodeComparison:
    node: Any = {
        "tensor": tensor,
        "node": f"node of {tensor}",
        "op_type": "Op",
        "target_op": None,
        "inputs": [],
        "status": "compared",
        "metrics": GOOD | (metrics or {}) if "status" not in changes else {},
        "statistics": {},
        "golden_nonfinite": 0,
        "target_nonfinite": 0,
        "introduced_nonfinite": 0,
        "problem": None,
        "diverges": False,
    }
    found: NodeComparison = node | changes
    return found


def _integers(tensor: str) -> NodeComparison:
    node = _node(tensor)
    node["metrics"] = {"mismatch_rate": 1.0}
    return node


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        pytest.param(_node("a"), None, id="equal"),
        pytest.param(_node("a", {"cosine_similarity": 0.99}), None, id="cosine-at-limit"),
        pytest.param(
            _node("a", {"cosine_similarity": 0.9899}), "cosine_similarity", id="cosine"
        ),
        pytest.param(
            _node("a", {"cosine_similarity": "NaN"}), "cosine_similarity", id="undefined"
        ),
        pytest.param(
            _node("a", {"relative_euclidean_distance": 0.05}), None, id="distance-at-limit"
        ),
        pytest.param(
            _node("a", {"relative_euclidean_distance": 0.051}),
            "relative_euclidean_distance",
            id="distance",
        ),
        pytest.param(
            _node("a", target_nonfinite=1, introduced_nonfinite=1), "nonfinite", id="nan"
        ),
        pytest.param(
            _node(
                "a", {"cosine_similarity": "NaN"}, golden_nonfinite=2, target_nonfinite=2
            ),
            None,
            id="infinities-of-a-mask-on-both-sides",
        ),
        pytest.param(_node("a", problem="shapes differ"), "incomparable", id="shape"),
        pytest.param(
            _node("a", {"root_mean_square_error": 1e6, "kl_divergence": 9.0}),
            None,
            id="metrics-that-depend-on-scale",
        ),
        pytest.param(_node("a", status="golden_only"), None, id="one-side"),
        pytest.param(_integers("a"), None, id="integers"),
    ],
)
def test_a_node_diverges_beyond_its_limits_only(
    node: NodeComparison, reason: str | None
) -> None:
    assert why_divergent(node) == reason


def test_the_first_in_order_is_named_whether_the_gate_failed_or_not() -> None:
    nodes = [
        _node("a", {"cosine_similarity": 0.995}),
        _node("b", {"cosine_similarity": 0.98}, target_op="ResizeBilinearV2"),
        _node("c", {"cosine_similarity": 0.1}),
    ]
    for passed in (True, False):
        found = first_divergent_node(nodes, gate_passed=passed)

        assert found is not None
        assert found["name"] == "node of b"
        assert found["target_op"] == "ResizeBilinearV2"
        assert found["reason"] == "cosine_similarity"
        assert found["metrics"]["cosine_similarity"] == 0.98


def _falling() -> list[NodeComparison]:
    return [
        _node("a", {"cosine_similarity": 0.999}, inputs=["image", "weight"]),
        _node("b", {"cosine_similarity": 0.996}, inputs=["a"]),
        _node("c", {"cosine_similarity": 0.994}, inputs=["a", "b"]),
    ]


def test_a_failed_gate_without_one_names_the_largest_drop_against_the_worst_input() -> None:
    found = first_divergent_node(_falling(), gate_passed=False)

    # c falls by 0.005 against a, but only by 0.002 against its worst input b.
    assert found is not None
    assert (found["name"], found["reason"]) == ("node of b", "largest_drop")


def test_a_passed_gate_without_one_names_none() -> None:
    assert first_divergent_node(_falling(), gate_passed=True) is None


def test_a_tensor_that_was_not_compared_passes_on_what_reached_it() -> None:
    nodes = [
        _node("a", {"cosine_similarity": 0.993}),
        _node("fused", status="golden_only", inputs=["a"]),
        _node("b", {"cosine_similarity": 0.992}, inputs=["fused"]),
    ]
    found = first_divergent_node(nodes, gate_passed=False)

    assert found is not None
    assert found["name"] == "node of a"


def test_nothing_that_falls_is_nothing_to_name() -> None:
    assert first_divergent_node([_node("a"), _node("b")], gate_passed=False) is None
    assert first_divergent_node([], gate_passed=False) is None


def test_overflow_is_named_where_it_happens_and_not_where_it_arrives() -> None:
    """300 * 300 * 0.01 in fp16: the product overflows, the scaling only passes it on."""
    x = np.array([300.0, 1.0])
    with np.errstate(over="ignore"):
        half = x.astype(np.float16) * np.float16(300)
    table = NodeTable()
    table.add("product", x * 300, half)
    table.add("scaled", x * 3, half * np.float16(0.01))
    origins = [
        Origin("product", "mul", "Mul", ("x",)),
        Origin("scaled", "mul2", "Mul", ("product",)),
    ]
    found = first_divergent_node(table.result(origins, {}), gate_passed=False)

    assert found is not None
    assert (found["name"], found["reason"]) == ("mul", "nonfinite")


def test_what_a_rule_moved_neither_diverges_nor_has_the_largest_drop() -> None:
    moved = _node("a", {"cosine_similarity": 0.5}, moved_by_rules=True)
    after = _node("b", {"cosine_similarity": 0.995}, inputs=["a"])

    found = first_divergent_node([moved, after], gate_passed=False)

    assert why_divergent(moved) is None
    assert found is not None
    assert (found["tensor"], found["reason"]) == ("b", "largest_drop")


GOLDEN = np.linspace(1.0, 2.0, 16)


def _measured(*pairs: Pair, scale: float) -> MetricsDocument:
    outputs = []
    for pair in pairs:
        series = OutputSeries(pair, "y")
        series.add("s0", GOLDEN, GOLDEN * scale)
        outputs.append(series.result())
    return {"schema_version": 1, "outputs": outputs, "nodes": [], "node_samples": []}


def _diverging(gate: Any, measured: MetricsDocument) -> list[tuple[str, float]]:
    checks = judge_outputs(gate, measured, ["y"], has_torch=len(measured["outputs"]) > 1)
    found = divergent_outputs(measured["outputs"], checks)
    return [(each["metric"], float(each["value"])) for each in found]


@pytest.mark.parametrize("scale", [1e-6, 0.94, 1.06, 1e6])
def test_an_output_of_another_scale_diverges_though_its_cosine_passes(scale: float) -> None:
    """The relative Euclidean distance of c * g from g is |c - 1|."""
    measured = _measured("onnx-target", "torch-onnx", "torch-target", scale=scale)

    ((metric, value),) = _diverging({}, measured)
    assert metric == "relative_euclidean_distance"
    assert value == pytest.approx(abs(scale - 1))


@pytest.mark.parametrize(
    ("gate", "pairs", "scale"),
    [
        pytest.param({}, ["onnx-target"], 1.049, id="within"),
        pytest.param(
            {"y": {"relative_euclidean_distance": {"max": 2.0}}},
            ["onnx-target"],
            2.0,
            id="judged-by-the-user",
        ),
        pytest.param({}, ["torch-onnx"], 2.0, id="of-the-export"),
    ],
)
def test_what_is_near_or_judged_or_not_the_targets_does_not_diverge(
    gate: Any, pairs: list[Pair], scale: float
) -> None:
    assert _diverging(gate, _measured(*pairs, scale=scale)) == []


def test_a_cosine_that_the_gate_does_not_judge_may_diverge_too() -> None:
    gate = {"*": {"max_absolute_error": {"max": 100.0}}}

    found = _diverging(gate, _measured("onnx-target", scale=-1.0))
    assert [metric for metric, _ in found] == [
        "cosine_similarity",
        "relative_euclidean_distance",
    ]
