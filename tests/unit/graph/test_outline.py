from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from onnx import parser

from ascendflow.graph.outline import Produced, outline, read_by

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, bool c) => (float[2] y) {
  [first] a = Relu (x)
  b, i = TopK <axis = 0> (a, k)
  [choose] y = If (c) <
    then_branch = then () => (float[2] t) { inner = Neg (b)  t = Add (inner, w) },
    else_branch = other () => (float[2] e) {
      e = If (c) < then_branch = deep () => (float[2] d) { d = Abs (x) },
                   else_branch = deeper () => (float[2] f) { f = Identity (a) } >
    }
  >
}
"""


def test_every_node_output_is_listed_with_what_its_node_reads(tmp_path: Path) -> None:
    onnx.save(parser.parse_model(MODEL), tmp_path / "model.onnx")
    outlined = outline(tmp_path / "model.onnx")

    assert outlined.produced == (
        Produced("a", "first", "Relu", ("x",)),
        Produced("b", "b", "TopK", ("a", "k")),
        Produced("i", "b", "TopK", ("a", "k")),
        Produced("y", "choose", "If", ("c", "b", "w", "x", "a")),
    )


def test_nodes_with_bodies_are_named(tmp_path: Path) -> None:
    onnx.save(parser.parse_model(MODEL), tmp_path / "model.onnx")

    assert outline(tmp_path / "model.onnx").with_subgraphs == ("choose",)


def test_a_body_that_hands_an_outer_tensor_through_reads_it() -> None:
    body = onnx.GraphProto(name="b", output=[onnx.ValueInfoProto(name="outer")])
    node = onnx.NodeProto(op_type="If", input=["c", ""], output=["y"])
    node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH, g=body)

    assert list(read_by(node)) == ["c", "outer"]
