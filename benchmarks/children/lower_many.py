"""Lowers a chain of a thousand nodes, made in FOLDER, for mixed precision on 310P."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
from onnx import helper, numpy_helper

from ascendflow.backends.emulator import artifact, lowering
from ascendflow.backends.emulator.backend import Emulator

IMPORTED = (onnx_ir, artifact, lowering)  # as a stage's start has done before
KINDS = ("Conv", "Relu", "Add", "Sigmoid", "Mul")
NODES = 1000
CHANNELS = 8


def write(path: Path) -> None:
    """Write a chain of convolutions and vector operators."""
    weight = np.zeros((CHANNELS, CHANNELS, 1, 1), np.float32)
    nodes = []
    for number in range(NODES):
        kind = KINDS[number % len(KINDS)]
        second = {"Conv": ["w"], "Add": ["x0"], "Mul": ["x0"]}.get(kind, [])
        edges = [f"x{number}", *second], [f"x{number + 1}"]
        attributes: dict[str, Any] = {"kernel_shape": [1, 1]} if kind == "Conv" else {}
        name = f"{kind}_{number}"
        nodes.append(helper.make_node(kind, *edges, name=name, **attributes))
    shape = [1, CHANNELS, 8, 8]
    first, last = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name in ("x0", f"x{NODES}")
    )
    weights = [numpy_helper.from_array(weight, "w")]
    graph = helper.make_graph(nodes, "chain", [first], [last], weights)
    opset = [helper.make_opsetid("", 15)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


folder = Path(sys.argv[1])
write(folder / "model.onnx")
target = {
    "cann": "8.1",
    "soc_version": "Ascend310P3",
    "precision_mode": "allow_mix_precision",
}
start = time.perf_counter()
document = Emulator().compile(folder / "model.onnx", folder / "model", target)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "nodes": len(document["target_ops"])}))
