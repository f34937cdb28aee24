from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

INT64 = TensorProto.INT64
K = {"k": np.array([3], np.int64)}


def topk(*nodes: onnx.NodeProto, given: Any = ("idx", [1, 3], INT64)) -> onnx.ModelProto:
    """Make a TopK of x (1 x 12) giving v, i; then `nodes`, which read b and 12 (int64)."""
    made = [node("TopK", ["x", "k"], ["v", "i"], name="topk"), *nodes]
    inputs: list[Any] = [("x", [1, 12]), ("b", [1, 1], INT64)]
    constants = {**K, "stride": np.array(12, np.int64), "flat": np.array([-1], np.int64)}
    return model(made, inputs, [("v", [1, 3]), given], constants)


def index_add() -> onnx.ModelProto:
    """DT01: indices, plus batch times stride, look the values up again."""
    nodes = [
        node("Mul", ["b", "stride"], ["off"]),
        node("Add", ["i", "off"], ["idx"], name="Add_718"),
        node("Reshape", ["x", "flat"], ["xf"]),
        node("Gather", ["xf", "idx"], ["y"], axis=0),
    ]
    return topk(*nodes, given=("y", [1, 3]))


FEEDS: dict[str, np.ndarray] = {
    "x": np.random.default_rng(7).permutation(12).astype(F32).reshape(1, 12),
    "b": np.zeros((1, 1), np.int64),
}


def test_indices_that_meet_int64_are_rejected_and_the_meeting_named(tmp_path: Path) -> None:
    """DT01."""
    proto = index_add()

    assert linted(proto) == [("topk", "topk-int64", "rejected")]
    with pytest.raises(StageError, match=r"'topk' \(TopK\): .*'Add_718' \(Add\)") as caught:
        convert(proto, tmp_path)
    assert "rule 'indices-to-int64'" in str(caught.value.hint)


def test_a_cast_that_does_nothing_in_onnx_makes_it_convert_and_agree() -> None:
    """DT01."""
    proto, edited = index_add(), cured(index_add(), "indices-to-int64")

    assert linted(edited) == []
    expected = run(proto, FEEDS)
    for found in (run(edited, FEEDS), emulate(edited, FEEDS, **FP32)):
        for name, tensor in expected.items():
            np.testing.assert_array_equal(found[name], tensor)


def test_it_is_followed_through_what_only_moves_elements() -> None:
    nodes = [
        node("Unsqueeze", ["i", "flat"], ["u"]),
        node("Squeeze", ["u", "flat"], ["s"]),
        node("Mul", ["s", "stride"], ["idx"]),
    ]

    assert linted(topk(*nodes)) == [("topk", "topk-int64", "rejected")]


def test_where_no_verifier_was_read_it_is_unknown(tmp_path: Path) -> None:
    proto = topk(node("Sub", ["i", "stride"], ["idx"], name="minus"))

    assert linted(proto) == [("topk", "topk-int64", "unknown")]
    with pytest.raises(NotModelledError, match=r"'minus' \(Sub\)"):
        convert(proto, tmp_path)


def test_indices_that_leave_the_model_are_int32() -> None:
    """The numbers are numpy's, whatever their type."""
    proto = topk(node("Identity", ["i"], ["idx"]))

    assert linted(proto) == [("topk", "topk-int64", "precision")]
    y = emulate(proto, FEEDS)["idx"]
    np.testing.assert_array_equal(y[0], np.argsort(-FEEDS["x"][0])[:3])
    assert linted(cured(proto, "indices-to-int64")) == []


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(topk(node("Add", ["b", "b"], ["idx"]), given=("idx", [1, 1], INT64))),
        pytest.param(
            topk(
                node("Cast", ["i"], ["c"], to=INT64), node("Add", ["c", "stride"], ["idx"])
            )
        ),
        pytest.param(
            topk(node("Gather", ["x", "i"], ["y"], axis=1), given=("y", [1, 1, 3]))
        ),
        pytest.param(
            topk(
                node("Add", ["i", "i"], ["t"]),
                node("Cast", ["t"], ["y"], to=1),
                given=("y", [1, 3]),
            )
        ),
    ],
    ids=["not-used", "cast", "only-index", "with-itself"],
)
def test_other_uses_are_harmless(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []


def test_a_computed_k_is_not_known(tmp_path: Path) -> None:
    nodes = [node("TopK", ["x", "k"], ["v", "i"], name="topk")]
    inputs: list[Any] = [("x", [12]), ("k", [1], INT64)]
    proto = model(nodes, inputs, [("v", ["n"])])

    assert linted(proto) == [("topk", "topk-int64", "unknown")]
    with pytest.raises(NotModelledError, match="k is computed, in int64"):
        convert(proto, tmp_path)
