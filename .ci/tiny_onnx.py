"""Writes a five-node ONNX file, for the wheel check: `tiny_onnx.py FILE`."""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tiny() -> onnx.ModelProto:
    """Return Conv, Relu, Resize, GlobalAveragePool, Flatten, with seeded weights."""
    generator = np.random.default_rng(0)
    weights = generator.standard_normal((4, 3, 3, 3)).astype(np.float32)
    scales = np.array([1, 1, 2, 2], np.float32)
    nodes = [
        helper.make_node("Conv", ["image", "weights"], ["conv"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv"], ["relu"], "relu"),
        helper.make_node("Resize", ["relu", "", "scales"], ["big"], "big", mode="nearest"),
        helper.make_node("GlobalAveragePool", ["big"], ["mean"], "pool"),
        helper.make_node("Flatten", ["mean"], ["scores"], "flatten"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 4])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(scales, "scales"),
        ],
    )
    opset = helper.make_opsetid("", 15)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


if __name__ == "__main__":
    onnx.save(tiny(), sys.argv[1])
