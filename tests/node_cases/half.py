"""What rounding every tensor to fp16 makes of a model, found without the emulator.

The model itself gets, around each of its nodes, the operators that round as the target's
memory does: NaN becomes 0, what is larger than 65504 becomes that, then a Cast to fp16 and
back. onnxruntime runs it. What differs from ONNX as this does, does so for the storage of
tensors alone: kernels compute in fp32 and round once. Cast is left as it is, its types
being asked for; so are inputs that only describe the work, and constants until they are
read or given out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ascendflow.graph.io_spec import opset_of

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 65504.0
_DESCRIBED_FROM = {"Resize": 1, "Upsample": 1, "Dropout": 1}
"""Operator -> the first of its floating inputs that only describe the work."""


def stored(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return `model`, whose tensors are fp32, with each of them rounded to fp16.

    It has the same inputs and outputs; nothing is rounded in the bodies of control flow.
    """
    floats = {name for name, dtype in _types(model).items() if dtype == TensorProto.FLOAT}
    nodes: list[onnx.NodeProto] = []
    for number, original in enumerate(model.graph.node):
        node = onnx.NodeProto()
        node.CopyFrom(original)
        if node.op_type == "Cast" or _is_inner_constant(original, model):
            nodes.append(node)
            continue
        for at, name in enumerate(original.input):
            if name in floats and at < _DESCRIBED_FROM.get(node.op_type, at + 1):
                node.input[at] = f"{name}/{number}.{at}"
                nodes += _rounding(name, node.input[at], opset_of(model) or 0)
        nodes.append(node)
        for at, name in enumerate(original.output):
            if name in floats:
                node.output[at] = f"{name}/wide"
                nodes += _rounding(node.output[at], name, opset_of(model) or 0)
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.ir_version = max(made.ir_version, 4)  # before, constants had to be inputs too
    made.graph.ClearField("node")
    made.graph.node.extend(nodes)
    made.graph.initializer.extend(
        numpy_helper.from_array(np.array(number, np.float32), name)
        for name, number in (("/0", 0.0), ("/lowest", -LARGEST), ("/largest", LARGEST))
    )
    return made


def every_float(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return `model` with each floating tensor that a node makes among its outputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    types, known = _types(model), {value.name for value in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if types.get(name) == TensorProto.FLOAT and name not in known:
                made.graph.output.add(name=name)
    return made


def leaves_range(arrays: Sequence[np.ndarray]) -> bool:
    """Return whether a number is one that fp16 has no neighbour for: too large, or NaN."""
    with np.errstate(over="ignore"):
        return any(
            array.dtype.kind == "f" and not np.isfinite(array.astype(np.float16)).all()
            for array in arrays
        )


def _rounding(source: str, result: str, opset: int) -> list[onnx.NodeProto]:
    """Make the nodes that read `source` and give `result`, an fp16 number in fp32."""
    whole, inside, half = (f"{result}/{role}" for role in ("whole", "inside", "half"))
    if opset >= 11:
        clip = helper.make_node("Clip", [whole, "/lowest", "/largest"], [inside])
    else:
        clip = helper.make_node("Clip", [whole], [inside], min=-LARGEST, max=LARGEST)
    return [
        helper.make_node("IsNaN", [source], [f"{result}/is_nan"]),
        helper.make_node("Where", [f"{result}/is_nan", "/0", source], [whole]),
        clip,
        helper.make_node("Cast", [inside], [half], to=TensorProto.FLOAT16),
        helper.make_node("Cast", [half], [result], to=TensorProto.FLOAT),
    ]


def _is_inner_constant(node: onnx.NodeProto, model: onnx.ModelProto) -> bool:
    given = {value.name for value in model.graph.output}
    return node.op_type == "Constant" and given.isdisjoint(node.output)


def _types(model: onnx.ModelProto) -> dict[str, int]:
    """Return the element type of each tensor that has one."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    values = (*graph.input, *graph.value_info, *graph.output)
    types = {value.name: value.type.tensor_type.elem_type for value in values}
    return types | {tensor.name: tensor.data_type for tensor in graph.initializer}
