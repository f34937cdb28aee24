"""ONNX models in the forms that exporters leave behind, each built in code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ascendflow.tensors import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FLOAT = TensorProto.FLOAT


def node(op_type: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    """Make a node named after its op type and first output, unless `name` is given."""
    name = attributes.pop("name", f"{op_type}_{outputs[0]}")
    return helper.make_node(op_type, inputs, outputs, name=name, **attributes)


def value(name: str, shape: Sequence[int | str | None] | None, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, array: Any, dtype: Any = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def model(
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    constants: Sequence[onnx.TensorProto] = (),
    *,
    opset: int = 17,
    ir_version: int = 8,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(
        graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)]
    )


def relu(shape: Sequence[int | str | None] = (3,), *, opset: int = 17) -> onnx.ModelProto:
    """One Relu of `x`."""
    nodes = [node("Relu", ["x"], ["y"])]
    return model(nodes, [value("x", shape)], [value("y", shape)], opset=opset)


def initializer_as_input() -> onnx.ModelProto:
    """IR version 3: the weight is listed among the graph's inputs."""
    return model(
        [node("MatMul", ["x", "w"], ["y"], name="mm")],
        [value("x", [1, 3]), value("w", [3, 2])],
        [value("y", [1, 2])],
        [constant("w", np.ones((3, 2)))],
        opset=9,
        ir_version=3,
    )


def nameless() -> onnx.ModelProto:
    nodes = [
        node("Abs", ["x"], ["a"], name=""),
        node("Relu", ["a"], ["b"], name=""),
        node("Abs", ["b"], ["y"], name=""),
    ]
    return model(nodes, [value("x", [3])], [value("y", [3])])


def tensor_made_twice() -> onnx.ModelProto:
    nodes = [
        node("Relu", ["x"], ["t"], name="r1"),
        node("Neg", ["x"], ["t"], name="n1"),
        node("Abs", ["t"], ["y"], name="a1"),
    ]
    return model(nodes, [value("x", [3])], [value("y", [3])])


def training_batch_norm() -> onnx.ModelProto:
    bn = node(
        "BatchNormalization",
        ["x", "s", "b", "m", "v"],
        ["y", "mean", "var"],
        name="bn1",
        training_mode=1,
    )
    ones = [constant(name, np.ones(3)) for name in "sbmv"]
    shape = [2, 3, 4, 4]
    return model([bn], [value("x", shape)], [value("y", shape)], ones, opset=15)


def input_independent() -> onnx.ModelProto:
    """Y = c + sum(0 * x)."""
    nodes = [
        node("Mul", ["x", "z"], ["zx"]),
        node("ReduceSum", ["zx"], ["s"], keepdims=0),
        node("Add", ["c", "s"], ["y"]),
    ]
    constants = [constant("z", np.zeros(4)), constant("c", [5, 6])]
    return model(nodes, [value("x", [4])], [value("y", [2])], constants)


def passthrough() -> onnx.ModelProto:
    """An Identity between a graph input and a graph output, beside real work."""
    nodes = [node("Identity", ["x"], ["copy"], name="id0"), node("Relu", ["x"], ["y"])]
    return model(nodes, [value("x", [2])], [value("copy", [2]), value("y", [2])])


def bfloat16_matmul() -> onnx.ModelProto:
    """Onnxruntime's CPU provider has no MatMul for bfloat16."""
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2, 2], [1.0, 0.3, 3.0, 5.75])
    nodes = [
        node("Cast", ["x"], ["xb"], to=TensorProto.BFLOAT16),
        node("MatMul", ["xb", "w"], ["yb"], name="mm_bf16"),
        node("Cast", ["yb"], ["y"], to=FLOAT),
    ]
    return model(nodes, [value("x", [1, 2])], [value("y", [1, 2])], [weight])


def rms_norm() -> onnx.ModelProto:
    """Onnxruntime's default optimisation fuses this into a node that refuses its scale."""
    nodes = [
        node("Pow", ["x", "two"], ["p"]),
        node("ReduceMean", ["p"], ["m"], axes=[-1], keepdims=1),
        node("Add", ["m", "eps"], ["a"]),
        node("Sqrt", ["a"], ["s"]),
        node("Div", ["x", "s"], ["d"]),
        node("Mul", ["d", "scale"], ["y"], name="mul_scale"),
    ]
    constants = [constant("two", 2), constant("eps", 1e-5), constant("scale", [1, 3])]
    return model(nodes, [value("x", [1, 1])], [value("y", [1, 2])], constants)


def scalar_input() -> onnx.ModelProto:
    """Y = max(x * scale), both scale and y of rank 0."""
    nodes = [
        node("Mul", ["x", "scale"], ["m"]),
        node("ReduceMax", ["m"], ["y"], keepdims=0),
    ]
    return model(nodes, [value("x", [2, 3]), value("scale", [])], [value("y", [])])


def slice_to_the_end() -> onnx.ModelProto:
    """x[2:INT64_MAX], the way exporters spell "to the end"."""
    bounds = [constant("s", [2], np.int64), constant("e", [2**63 - 1], np.int64)]
    nodes = [node("Slice", ["x", "s", "e"], ["y"], name="tail")]
    return model(nodes, [value("x", [10])], [value("y", ["n"])], bounds)


def conv_batch_norm() -> onnx.ModelProto:
    """Conv and BatchNormalization with a tiny variance: folding them moves values."""
    rng = np.random.default_rng(7)
    constants = [
        constant("w", rng.standard_normal((4, 3, 3, 3))),
        *(constant(name, rng.standard_normal(4)) for name in "sbm"),
        constant("v", [1e-6, 0.5, 1, 2]),
    ]
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv"),
        node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"], name="bn"),
    ]
    return model(nodes, [value("x", [1, 3, 6, 6])], [value("y", [1, 4, 4, 4])], constants)


def resize_with_empty_roi() -> onnx.ModelProto:
    """Resize to computed sizes; roi and scales are empty constants."""
    empty = np.zeros((0,), np.float32)
    nodes = [
        node("Constant", [], ["roi"], value=constant("r", empty)),
        node("Constant", [], ["scales"], value=constant("c", empty)),
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape", "zero", "two"], ["nc"]),
        node("Constant", [], ["hw"], value=constant("h", [9, 11], np.int64)),
        node("Concat", ["nc", "hw"], ["sizes"], axis=0),
        node(
            "Resize",
            ["x", "roi", "scales", "sizes"],
            ["y"],
            mode="linear",
            coordinate_transformation_mode="pytorch_half_pixel",
        ),
    ]
    bounds = [constant("zero", [0], np.int64), constant("two", [2], np.int64)]
    inputs, outputs = [value("x", [1, 2, 5, 5])], [value("y", [1, 2, 9, 11])]
    return model(nodes, inputs, outputs, bounds, opset=11, ir_version=6)


def average_pool(
    opset: int, *, size: int, stride: int, include_pad: int
) -> onnx.ModelProto:
    """AveragePool 3x3 with ceil_mode, whose last windows reach into the padding."""
    pool = node(
        "AveragePool",
        ["x"],
        ["y"],
        kernel_shape=[3, 3],
        strides=[stride, stride],
        pads=[1, 1, 1, 1],
        ceil_mode=1,
        count_include_pad=include_pad,
    )
    inputs, outputs = [value("x", [1, 1, size, size])], [value("y", [1, 1, "h", "w"])]
    return model([pool], inputs, outputs, opset=opset)


def matmul(seed: int = 1, size: int = 64) -> onnx.ModelProto:
    weight = np.random.default_rng(seed).standard_normal((size, size))
    return model(
        [node("MatMul", ["x", "w"], ["y"], name="mm")],
        [value("x", [1, size])],
        [value("y", [1, size])],
        [constant("w", weight)],
    )


def save_with_external_data(proto: onnx.ModelProto, folder: Path) -> Path:
    """Write model.onnx and weights.bin, which holds every tensor."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    onnx.save(
        proto,
        path,
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    return path


def say_external(proto: onnx.ModelProto, **entries: str) -> None:
    """Make the first initializer refer to external data, with these entries."""
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, said in entries.items():
        tensor.external_data.add(key=key, value=said)


def x_of(*shape: int) -> list[TensorSpec]:
    """Return the manifest's inputs for a model whose one input is a float32 `x`."""
    return [TensorSpec("x", "float32", shape)]
