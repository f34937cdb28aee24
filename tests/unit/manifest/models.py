"""ONNX files for `init`, built in code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def identity(
    path: Path,
    inputs: Mapping[str, Sequence[int | str | None] | None],
    *,
    dtype: int = TensorProto.FLOAT,
    op_type: str = "Identity",
) -> Path:
    """Save a model that passes each input on."""
    values = [
        helper.make_tensor_value_info(name, dtype, shape) for name, shape in inputs.items()
    ]
    nodes = [helper.make_node(op_type, [name], [f"{name}-out"]) for name in inputs]
    outputs = [
        helper.make_tensor_value_info(f"{name}-out", dtype, shape)
        for name, shape in inputs.items()
    ]
    return save(path, values, nodes, outputs=outputs)


def save(
    path: Path,
    inputs: list[Any],
    nodes: list[Any],
    weights: Sequence[Any] = (),
    opset: int = 15,
    *,
    outputs: Sequence[Any] = (),
) -> Path:
    """Save a graph; nobody here checks or runs it."""
    graph = helper.make_graph(nodes, "g", inputs, list(outputs), list(weights))
    path.parent.mkdir(parents=True, exist_ok=True)
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports)
    path.write_bytes(model.SerializeToString())
    return path


def with_external(path: Path, location: str, *, where: str = "initializer") -> Path:
    """Save a model with one tensor `w`, whose bytes are said to lie at `location`."""
    tensor = numpy_helper.from_array(np.ones(4, np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    constant = helper.make_node("Constant", [], ["w"], value=tensor)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    if where == "initializer":
        return save(path, [x], [add], [tensor])
    if where == "attribute":
        return save(path, [x], [constant, add])
    branch = helper.make_graph([constant, add], "then", [], [])
    return save(path, [x], [helper.make_node("If", ["c"], ["y"], then_branch=branch)])


def sequence_input(path: Path) -> Path:
    """Save a model whose one input is a sequence."""
    kind = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [1])
    return save(path, [kind], [helper.make_node("SequenceLength", ["s"], ["n"])])
