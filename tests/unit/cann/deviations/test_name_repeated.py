from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise
from tests.emulation import convert, linted
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def chain(*names: str) -> onnx.ModelProto:
    """Make x -> Neg -> ... -> t<n>, with the nodes named so."""
    nodes = [
        node("Neg", ["x" if k == 0 else f"t{k - 1}"], [f"t{k}"], name=name)
        for k, name in enumerate(names)
    ]
    return model(nodes, [("x", [2])], [(f"t{len(names) - 1}", [2])])


def branching(inner: str) -> onnx.ModelProto:
    """Make y = -z if c else z, for an integer z = x + x; the branch's node is `inner`."""
    out = helper.make_tensor_value_info("o", TensorProto.INT64, [2])
    bodies = [
        helper.make_graph([node(op_type, ["z"], ["o"], name=inner)], op_type, [], [out])
        for op_type in ("Neg", "Identity")
    ]
    nodes = [
        node("Add", ["x", "x"], ["z"], name="double"),
        node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1]),
    ]
    int64 = TensorProto.INT64
    inputs = [("x", [2], int64), ("c", [], TensorProto.BOOL)]
    return model(nodes, inputs, [("y", [2], int64)])


@pytest.mark.parametrize(
    ("proto", "blamed", "reason"),
    [
        pytest.param(chain("a", "b", "a"), ["a", "a"], "2 nodes of its graph", id="twice"),
        pytest.param(chain("a", "x"), ["x"], "an input of its graph", id="input"),
        pytest.param(branching("z"), ["z", "z"], "from outside", id="captured"),
    ],
)
def test_a_name_that_two_of_canns_nodes_would_have_is_rejected(
    proto: onnx.ModelProto, blamed: list[str], reason: str, tmp_path: Path
) -> None:
    assert linted(proto) == [(name, "name-repeated", "rejected") for name in blamed]

    with pytest.raises(StageError, match=reason) as caught:
        convert(proto, tmp_path)

    assert caught.value.message.count(f"node {blamed[0]!r}") == len(blamed)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(chain("a", "b", "c"), id="all different"),
        pytest.param(chain("a", "t0", "t1"), id="like a tensor"),
        pytest.param(chain("a b", "c:0;d,e=f", "层/卷积"), id="any characters"),
        pytest.param(branching("inner"), id="in two branches"),
        pytest.param(branching("x"), id="like an input of the graph around"),
    ],
)
def test_other_names_do(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []


@pytest.mark.parametrize(
    "proto", [chain("a", "b", "a"), chain("a", "x"), branching("z")], ids="abc"
)
def test_the_export_stage_names_nodes_so_that_it_does_not_happen(
    proto: onnx.ModelProto,
) -> None:
    canonicalise(proto)

    assert linted(proto) == []
