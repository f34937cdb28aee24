from __future__ import annotations

import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from ascendflow.graph.order import why_unordered
from tests.models import Spec, model, node


def branching(*, before: str, inside: str) -> ir.Model:
    """An If, and in its branch a node; each reads what it is told to.

    `a` is made before the If, `b` behind it, `c` behind the branch's node.
    """
    body = [node("Neg", ["x"], ["t"], name="inner"), node("Abs", ["x"], ["c"])]
    then, other = (
        helper.make_graph(made, name, [], [helper.make_tensor_value_info(name, 1, [3])])
        for name, made in {"t": body, "e": [node("Abs", ["x"], ["e"])]}.items()
    )
    nodes = [
        node("Relu", ["x"], ["a"], name="first"),
        node("If", ["flag"], ["y"], name="if", then_branch=then, else_branch=other),
        node("Relu", ["y"], ["b"], name="last"),
    ]
    inputs: list[Spec] = [("x", [3]), ("flag", [], TensorProto.BOOL)]
    proto = model(nodes, inputs, [("b", [3])])
    proto.graph.node[0].input[0] = before
    attributes = {each.name: each for each in proto.graph.node[1].attribute}
    attributes["then_branch"].g.node[0].input[0] = inside
    return ir.from_proto(proto)


@pytest.mark.parametrize("inside", ["x", "a"])
def test_a_branch_reads_what_was_made_before_it(inside: str) -> None:
    assert why_unordered(branching(before="x", inside=inside)) is None


@pytest.mark.parametrize(
    ("before", "inside", "told"),
    [
        pytest.param(
            *("x", "y", "'inner' reads 'y' of node 'if', which depends on it: the graph "),
            id="its-own-output",
        ),
        pytest.param(
            *("x", "b", "'inner' reads 'b' of node 'last', which depends on it: the graph"),
            id="what-follows-from-it",
        ),
        pytest.param(
            *("x", "c", "'inner' reads 'c' of node 'c', which comes later: ONNX wants the"),
            id="later-in-the-branch",
        ),
        pytest.param(
            *("b", "a", "'first' reads 'b' of node 'last', which depends on it: the graph"),
            id="through-the-branch",
        ),
    ],
)
def test_what_comes_later_is_told_from_a_cycle(before: str, inside: str, told: str) -> None:
    assert told in (why_unordered(branching(before=before, inside=inside)) or "")
