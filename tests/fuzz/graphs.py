"""Small valid models of every kind that a file may hold, as fuzzers' starting points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.exported_models import constant, model, node, say_external, value

if TYPE_CHECKING:
    from collections.abc import Callable

WEIGHTS = np.random.default_rng(3).standard_normal((4, 3, 3, 3)).astype(np.float32)
WEIGHTS_FILE = "weights.bin"


def conv_resize() -> onnx.ModelProto:
    """Conv, Relu, Resize: what a segmentation model is made of."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("Resize", ["r", "", "up"], ["y"], mode="linear"),
    ]
    constants = [constant("w", WEIGHTS), constant("up", [1, 1, 2, 2])]
    return model(nodes, [value("x", [1, 3, 6, 8])], [value("y", [1, 4, 12, 16])], constants)


def branch() -> onnx.ModelProto:
    """If, with two branches that read the graph around them."""
    then = helper.make_graph([node("Neg", ["x"], ["a"])], "t", [], [value("a", [3])])
    other = helper.make_graph([node("Abs", ["x"], ["b"])], "e", [], [value("b", [3])])
    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["is"]),
        node("If", ["is"], ["y"], then_branch=then, else_branch=other),
    ]
    zero = [constant("zero", 0)]
    return model(nodes, [value("x", [3])], [value("y", [3])], zero)


def loop() -> onnx.ModelProto:
    """Loop of three turns, with a carried tensor and a collected one."""
    body = helper.make_graph(
        [
            node("Add", ["carried", "x"], ["sum"]),
            node("Identity", ["go"], ["go_on"]),
            node("Identity", ["sum"], ["row"]),
        ],
        "body",
        [
            value("turn", [], TensorProto.INT64),
            value("go", [], TensorProto.BOOL),
            value("carried", [2]),
        ],
        [value("go_on", [], TensorProto.BOOL), value("sum", [2]), value("row", [2])],
    )
    nodes = [node("Loop", ["turns", "yes", "x"], ["y", "rows"], body=body)]
    constants = [constant("turns", 3, np.int64), constant("yes", True, np.bool_)]
    outputs = [value("y", [2]), value("rows", [3, 2])]
    return model(nodes, [value("x", [2])], outputs, constants)


def low_precision() -> onnx.ModelProto:
    """Tensors of float16 and bfloat16, and casts between them."""
    half = helper.make_tensor("h", TensorProto.FLOAT16, [2], [0.5, 1.5])
    brain = helper.make_tensor("b", TensorProto.BFLOAT16, [2], [1.0, 0.25])
    nodes = [
        node("Cast", ["x"], ["xh"], to=TensorProto.FLOAT16),
        node("Mul", ["xh", "h"], ["mh"]),
        node("Cast", ["mh"], ["m"], to=TensorProto.FLOAT),
        node("Cast", ["b"], ["bf"], to=TensorProto.FLOAT),
        node("Add", ["m", "bf"], ["y"]),
    ]
    return model(nodes, [value("x", [2])], [value("y", [2])], [half, brain])


def integers() -> onnx.ModelProto:
    """Gather, Reshape, Slice, Concat: tensors that steer shapes; two inputs."""
    constants = [
        constant("table", np.arange(12).reshape(4, 3)),
        constant("shape", [2, -1], np.int64),
        constant("starts", [1], np.int64),
        constant("ends", [2**63 - 1], np.int64),
    ]
    nodes = [
        node("Gather", ["table", "ids"], ["g"], axis=0),
        node("Reshape", ["g", "shape"], ["r"]),
        node("Slice", ["r", "starts", "ends"], ["s"]),
        node("Concat", ["s", "x"], ["j"], axis=0),
        node("ArgMax", ["j"], ["best"], axis=1, keepdims=0),
        node("Softmax", ["j"], ["y"], axis=-1),
    ]
    inputs = [value("ids", [4], TensorProto.INT64), value("x", [1, 6])]
    outputs = [value("y", [2, 6]), value("best", [2], TensorProto.INT64)]
    return model(nodes, inputs, outputs, constants)


def sequences() -> onnx.ModelProto:
    """Tensors put into a sequence and taken out of it."""
    nodes = [
        node("SplitToSequence", ["x", "one"], ["parts"], axis=0),
        node("SequenceAt", ["parts", "first"], ["p"]),
        node("ConcatFromSequence", ["parts"], ["all"], axis=1),
        node("MatMul", ["p", "all"], ["y"]),
    ]
    constants = [constant("one", 1, np.int64), constant("first", 0, np.int64)]
    return model(nodes, [value("x", [2, 1])], [value("y", [1, 2])], constants)


def functions() -> onnx.ModelProto:
    """A local function that calls another."""
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], sets
    )
    thrice = helper.make_function(
        *("own", "Thrice", ["a"], ["c"]),
        [
            helper.make_node("Twice", ["a"], ["t"], domain="own"),
            node("Add", ["t", "a"], ["c"]),
        ],
        sets,
    )
    call = helper.make_node("Thrice", ["x"], ["y"], domain="own", name="call")
    graph = helper.make_graph([call], "g", [value("x", [3])], [value("y", [3])])
    return helper.make_model(
        graph, ir_version=8, opset_imports=sets, functions=[twice, thrice]
    )


def external() -> onnx.ModelProto:
    """A MatMul whose weights lie in `WEIGHTS_FILE`: 432 bytes, those of `WEIGHTS`."""
    weight = constant("w", WEIGHTS.reshape(12, 9))
    made = model(
        [node("MatMul", ["x", "w"], ["m"]), node("Sigmoid", ["m"], ["y"])],
        [value("x", [1, 12])],
        [value("y", [1, 9])],
        [weight],
    )
    say_external(made, location=WEIGHTS_FILE, offset="0", length="432")
    return made


def constants() -> onnx.ModelProto:
    """Values in attributes, in typed fields and sparse, and a nameless node."""
    typed = helper.make_tensor("typed", TensorProto.INT32, [3], [1, 2, 3])
    sparse = helper.make_sparse_tensor(
        constant("sparse", [5.0]), constant("at", [1], np.int64), [3]
    )
    held = constant("held", [1, 2, 3])
    nodes = [
        node("Constant", [], ["a"], value=held, name=""),
        node("Cast", ["typed"], ["t"], to=TensorProto.FLOAT),
        node("Clip", ["x", "", "top"], ["k"]),
        node("Sum", ["a", "t", "k", "sparse"], ["y"]),
    ]
    made = model(nodes, [value("x", [3])], [value("y", [3])], [typed, constant("top", 0.5)])
    made.graph.sparse_initializer.append(sparse)
    return made


SEEDS: tuple[Callable[[], onnx.ModelProto], ...] = (
    conv_resize,
    branch,
    loop,
    low_precision,
    integers,
    sequences,
    functions,
    external,
    constants,
)
