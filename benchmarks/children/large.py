"""A model of 1 GB with external data, and what the kernel tells of a process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

LAYERS, SIDE = 16, 4096
DATA = "model.onnx.data"


def write(folder: Path) -> Path:
    """Write a Resize after sixteen products with 64 MB each; return the model's path."""
    size = SIDE * SIDE * 4
    resize = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    weights, nodes = [resize], []
    for layer in range(LAYERS):
        weight = onnx.TensorProto(name=f"w{layer}", data_type=1, dims=[SIDE, SIDE])
        weight.data_location = onnx.TensorProto.EXTERNAL
        where = {"location": DATA, "offset": layer * size, "length": size}
        for key, value in where.items():
            weight.external_data.add(key=key, value=str(value))
        weights.append(weight)
        ends = [f"x{layer}", weight.name], [f"x{layer + 1}"]
        nodes.append(helper.make_node("MatMul", *ends, f"product{layer}"))
    mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    ends = [f"x{LAYERS}", "", "scales"], ["y"]
    nodes.append(helper.make_node("Resize", *ends, "resize", **mode))
    x = helper.make_tensor_value_info("x0", 1, [1, 1, 4, SIDE])
    y = helper.make_tensor_value_info("y", 1, [1, 1, 8, 2 * SIDE])
    graph = helper.make_graph(nodes, "large", [x], [y], weights)
    opset = [helper.make_opsetid("", 15)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with (folder / DATA).open("wb") as file:
        file.truncate(LAYERS * size)
    return folder / "model.onnx"


def told(file: str, key: str) -> int:
    """Return a number that the kernel tells of this process."""
    lines = Path("/proc/self", file).read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def used() -> tuple[int, int]:
    """Return this process's largest memory in kB, and how many bytes it has read."""
    return told("status", "VmHWM:"), told("io", "rchar:")
