from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import helper, parser

from ascendflow.graph.facts import node_facts

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2] x) => (float[2,n] y)
<float[2] w = {3, 4}> {
  a = Mul (x, w)
  secret = Constant <value_floats = [1.5, 2.5]> ()
  b = LeakyRelu <alpha = 0.125> (a)
  y = Transpose <perm = [1, 0]> (b)
}
"""


def saved(tmp_path: Path, proto: onnx.ModelProto) -> Path:
    onnx.save(proto, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_attributes_and_known_shapes_are_told_by_tensor(tmp_path: Path) -> None:
    facts = node_facts(saved(tmp_path, parser.parse_model(MODEL)))

    assert facts["a"] == ({}, {"x": ["n", 2], "w": [2], "a": ["n", 2]})
    assert facts["b"] == ({"alpha": "0.125"}, {"a": ["n", 2], "b": ["n", 2]})
    assert facts["y"] == ({"perm": "[1, 0]"}, {"b": ["n", 2], "y": [2, "n"]})


def test_values_that_may_be_weights_are_named_by_their_kind(tmp_path: Path) -> None:
    proto = parser.parse_model(MODEL)
    weights = onnx.numpy_helper.from_array(np.ones(3, np.float32))
    proto.graph.node[2].attribute.extend(
        [
            helper.make_attribute("tensor", weights),
            helper.make_attribute("floats", [0.5] * 17),
            helper.make_attribute("text", "x" * 129),
            helper.make_attribute("short", "x" * 128),
        ]
    )

    facts = node_facts(saved(tmp_path, proto))

    assert facts["secret"][0] == {}
    assert facts["b"][0] == {
        "alpha": "0.125",
        "tensor": "TENSOR",
        "floats": "FLOATS",
        "text": "STRING",
        "short": "x" * 128,
    }
