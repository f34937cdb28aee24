"""Every graph the tests use, built in code from numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping

FLOAT = TensorProto.FLOAT
F32 = np.float32

Shape = Sequence[int | str]
Spec = tuple[str, Shape] | tuple[str, Shape, int]
"""(name, shape), or (name, shape, element type)."""


def node(
    op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
) -> onnx.NodeProto:
    """Make a node named after its first output, unless `name` is given."""
    name = attributes.pop("name", outputs[0])
    return helper.make_node(op_type, list(inputs), list(outputs), name=name, **attributes)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """Make a checked model; an input or output is (name, shape) or (name, shape, type)."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [_value(*spec) for spec in inputs],
        [_value(*spec) for spec in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    made = helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)]
    )
    onnx.checker.check_model(made)
    return made


def resize(
    shape: Shape,
    *,
    sizes: Sequence[int] | None = None,
    scales: Sequence[float] | None = None,
    opset: int = 17,
    **attributes: Any,
) -> onnx.ModelProto:
    """Make one Resize called "resize", from x to y, with the given attributes."""
    constants: dict[str, np.ndarray] = {}
    if opset < 11:
        constants["scales"] = np.array(scales, F32)
        inputs = ["x", "scales"]
    elif scales is not None:
        constants |= {"roi": np.zeros(0, F32), "scales": np.array(scales, F32)}
        inputs = ["x", "roi", "scales"]
    else:
        empty = np.zeros(0, F32)
        constants |= {"roi": empty, "none": empty, "sizes": np.array(sizes, np.int64)}
        inputs = ["x", "roi", "none", "sizes"]
    return model(
        [node("Resize", inputs, ["y"], name="resize", **attributes)],
        [("x", shape)],
        [("y", [f"y{axis}" for axis in range(len(shape))])],
        constants,
        opset,
    )


def resize_chain(mode: str) -> onnx.ModelProto:
    """Make eight linear 2x Resizes with seven 2x2 means between them, output u14."""
    nodes, previous = [], "x"
    for k in range(15):
        if k % 2 == 0:
            attributes = {"mode": "linear", "coordinate_transformation_mode": mode}
            nodes.append(node("Resize", [previous, "", "up"], [f"u{k}"], **attributes))
        else:
            window = {"kernel_shape": [2, 2], "strides": [2, 2]}
            nodes.append(node("AveragePool", [previous], [f"u{k}"], **window))
        previous = f"u{k}"
    return model(
        nodes,
        [("x", [1, 3, 6, 8])],
        [(previous, [1, 3, 12, 16])],
        {"up": np.array([1, 1, 2, 2], F32)},
    )


def mean(
    shape: Shape, axes: list[int] | None, opset: int = 17, **attributes: Any
) -> onnx.ModelProto:
    """Make one ReduceMean called "mean", from x to y; axes are an input from 18 on."""
    constants: dict[str, np.ndarray] = {}
    inputs = ["x"]
    if axes is not None and opset >= 18:
        constants["axes"] = np.array(axes, np.int64)
        inputs.append("axes")
    elif axes is not None:
        attributes["axes"] = axes
    rank = len(shape)
    if not attributes.get("keepdims", 1):
        rank -= rank if axes is None else len(axes)
    nodes = [node("ReduceMean", inputs, ["y"], name="mean", **attributes)]
    outputs: list[Spec] = [("y", [f"d{axis}" for axis in range(rank)])]
    return model(nodes, [("x", shape)], outputs, constants, opset)


def layer_norm() -> onnx.ModelProto:
    """Make a layer norm of single operators; `sq` overflows fp16 for large inputs."""
    nodes = [
        node("ReduceMean", ["x"], ["mu"], axes=[-1]),
        node("Sub", ["x", "mu"], ["d"]),
        node("Pow", ["d", "two"], ["sq"]),
        node("ReduceMean", ["sq"], ["var"], axes=[-1]),
        node("Add", ["var", "eps"], ["ve"]),
        node("Sqrt", ["ve"], ["sd"]),
        node("Div", ["d", "sd"], ["y"]),
    ]
    constants = {"two": np.array(2, F32), "eps": np.array(1e-5, F32)}
    return model(nodes, [("x", [1, 2, 16])], [("y", [1, 2, 16])], constants)


def masked_softmax() -> onnx.ModelProto:
    """Make softmax(x - 1e9 * (1 - mask)); 1e9 is no fp16 number."""
    nodes = [
        node("Sub", ["one", "mask"], ["inv"]),
        node("Mul", ["inv", "big"], ["pen"], name="gnn_mul"),
        node("Sub", ["x", "pen"], ["z"]),
        node("Softmax", ["z"], ["y"], axis=-1),
    ]
    constants = {"one": np.array(1, F32), "big": np.array(1e9, F32)}
    shapes: list[Spec] = [("x", [2, 4]), ("mask", [2, 4])]
    return model(nodes, shapes, [("y", [2, 4])], constants)


def run(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Run in onnxruntime, optimisation off."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, dict(feeds)), strict=True))


def cosine(golden: np.ndarray, target: np.ndarray) -> float:
    """Cosine of the angle between two tensors, in float64."""
    g, t = golden.astype(np.float64).ravel(), target.astype(np.float64).ravel()
    return float(g @ t / np.sqrt((g @ g) * (t @ t)))


def _value(name: str, shape: Shape, dtype: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)
