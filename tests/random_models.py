"""Small valid models of random operators with random attributes, each from one `Random`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.models import FLOAT, node

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Step = Callable[["Builder"], None]

OPSETS = (11, 12, 13, 15, 17, 18)


class Builder:
    """Appends nodes to one chain; `shape` is that of the tensor at its end.

    Attributes:
        rng: where all choices come from.
        opset: in which the model is written.
        previous: the name of the tensor at the end of the chain.
    """

    def __init__(self, rng: random.Random, opset: int) -> None:
        self.rng, self.opset = rng, opset
        lengths = [(1, 2), (1, 2, 3, 4, 8), (1, 2, 3, 5, 6, 8), (1, 2, 4, 5, 7)]
        self.shape = [rng.choice(each) for each in lengths]
        self.previous = "x"
        self._input, self._fed = list(self.shape), self.normal(*self.shape)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def add(self, op_type: str, *others: str, **attributes: Any) -> None:
        """Append a node that reads the end of the chain, and move the end there.

        Raises:
            ValueError: shape inference refuses the node or finds no fixed shape.
        """
        name = f"t{len(self._nodes)}"
        made = node(op_type, [self.previous, *others], [name], **attributes)
        shape = _shape_after(self._model(self.previous, self.shape, [made], name))
        self._nodes.append(made)
        self.previous, self.shape = name, shape

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def normal(self, *shape: int) -> np.ndarray:
        """Return random numbers that are no sums of a few powers of two."""
        seed = self.rng.randrange(1 << 32)
        return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)

    def model(self) -> onnx.ModelProto:
        """Return the model of all nodes, from x to the end of the chain."""
        return self._model("x", self._input, self._nodes, self.previous, self.shape)

    def feeds(self) -> dict[str, np.ndarray]:
        """Return random numbers for x, the same each time."""
        return {"x": self._fed}

    def _model(
        self,
        source: str,
        shape: list[int],
        nodes: list[onnx.NodeProto],
        result: str,
        declared: list[int] | None = None,
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info(source, FLOAT, shape)],
            [helper.make_tensor_value_info(result, FLOAT, declared)],
            self._constants,
        )
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, ir_version=8, opset_imports=imports)


def random_model(rng: random.Random, longest: int = 4) -> Builder:
    """Build a chain of 1 to `longest` random nodes; what cannot follow is left out."""
    builder = Builder(rng, rng.choice(OPSETS))
    wanted = rng.randrange(1, longest + 1)
    while len(builder._nodes) < wanted:
        try:
            rng.choice(STEPS)(builder)
        except ValueError:
            continue  # another may fit the shape
    return builder


def _shape_after(model: onnx.ModelProto) -> list[int]:
    try:
        inferred = onnx.shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True, data_prop=True
        )
    except onnx.shape_inference.InferenceError as error:
        raise ValueError(str(error)) from error
    tensor = inferred.graph.output[0].type.tensor_type
    shape = [dimension.dim_value for dimension in tensor.shape.dim]
    if tensor.elem_type != FLOAT or not all(0 < length <= 32 for length in shape):
        raise ValueError(f"no small fixed shape: {shape}")
    return shape


def _unary(b: Builder) -> None:
    names = (
        *("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "Elu", "Selu", "Softplus"),
        *("LeakyRelu", "HardSigmoid", "Floor", "Ceil", "Round", "Sign", "Exp", "Softsign"),
        *("ThresholdedRelu", "Identity", "Sin", "Atan", "Reciprocal"),
    )
    b.add(
        b.rng.choice(
            (
                *names,
                *(("HardSwish",) if b.opset >= 14 else ()),
                *(("Celu",) if b.opset >= 12 else ()),
            )
        )
    )


def _binary(b: Builder) -> None:
    shapes: tuple[list[int], ...] = ([], [1], b.shape[-1:], [1, *b.shape[1:]], b.shape)
    other = b.normal(*b.rng.choice(shapes))
    op_type = b.rng.choice(
        ("Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Pow", "Mod")
    )
    match op_type:
        case "Div":
            other = np.abs(other) + np.float32(0.5)
        case "Pow":
            other = np.full_like(other, b.rng.choice((1, 2, 3)))
    b.add(op_type, b.constant(other), **({"fmod": 1} if op_type == "Mod" else {}))


def _pool(b: Builder) -> None:
    """Strides do not exceed windows, SAME has no dilations, ceil_mode no pads at the end.

    Else ONNX's shape inference and onnxruntime count windows differently.
    """
    choose = b.rng.choice
    kernel = [choose((1, 2, 3, 4)), choose((1, 2, 3))]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [choose((1, 2, 3)[:length]) for length in kernel],
        "auto_pad": choose(("NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")),
    }
    op_type = choose(("MaxPool", "AveragePool", "MaxPool", "AveragePool", "LpPool"))
    if attributes["auto_pad"] == "NOTSET":
        attributes["pads"] = [b.rng.randrange(length) for length in kernel * 2]
        if op_type == "MaxPool":
            attributes["dilations"] = choose(([1, 1], [1, 1], [2, 1], [2, 2]))
        if op_type != "LpPool":
            attributes["ceil_mode"] = choose((0, 0, 1))
        if attributes.get("ceil_mode"):
            attributes["pads"][2:] = 0, 0
    if op_type == "AveragePool":
        attributes["count_include_pad"] = choose((0, 1))
    b.add(op_type, **attributes)


def _resize(b: Builder) -> None:
    choose = b.rng.choice
    modes = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attributes = {
        "mode": choose(("nearest", "linear", "cubic", "nearest", "linear")),
        "coordinate_transformation_mode": choose(modes),
        "nearest_mode": choose(
            ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
        ),
    }
    chosen = {key: text for key, text in attributes.items() if choose((True, True, False))}
    if len(b.shape) != 4:
        raise ValueError("no picture")
    nothing = b.constant([])
    if choose((True, False)):
        scales = [1, 1, choose((1, 2, 0.5, 3, 1.5)), choose((1, 2, 4, 0.6))]
        b.add("Resize", nothing, b.constant(scales), **chosen)
    else:
        sizes = [*b.shape[:2], choose((1, 2, 4, 6, 9)), choose((1, 3, 5, 8))]
        b.add("Resize", nothing, nothing, b.constant(sizes, np.int64), **chosen)


def _move(b: Builder) -> None:
    rank, choose = len(b.shape), b.rng.choice
    axis = b.rng.randrange(-rank, rank)
    match choose(("Transpose", "Reshape", "Flatten", "Concat", "Slice", "Tile", "Gather")):
        case "Transpose":
            b.add("Transpose", perm=b.rng.sample(range(rank), rank))
        case "Reshape":
            shape = choose(([0, -1], [-1], [1, 0, -1], [0, 0, 1, -1], [1, 1, -1, 2]))
            b.add("Reshape", b.constant(shape, np.int64))
        case "Flatten":
            b.add("Flatten", axis=axis)
        case "Concat":
            b.add("Concat", b.previous, axis=axis)
        case "Slice":
            bounds = [
                choose((0, 1, -2)),
                choose((1, 2, -1, 2**63 - 1)),
                axis,
                choose((1, 2)),
            ]
            b.add("Slice", *(b.constant([each], np.int64) for each in bounds))
        case "Tile":
            b.add("Tile", b.constant([choose((1, 2)) for _ in b.shape], np.int64))
        case "Gather":
            b.add("Gather", b.constant(choose(([0], 0, [0, -1])), np.int64), axis=axis)


def _along(b: Builder) -> None:
    axis = b.rng.randrange(-len(b.shape), len(b.shape))
    op_type = b.rng.choice(("Softmax", "LogSoftmax", "ReduceMean", "ReduceMax", "ReduceL2"))
    if not op_type.startswith("Reduce"):
        b.add(op_type, **b.rng.choice(({"axis": axis}, {})))
    elif b.opset < 18:
        b.add(op_type, axes=[axis], keepdims=b.rng.choice((0, 1)))
    else:
        b.add(op_type, b.constant([axis], np.int64), keepdims=b.rng.choice((0, 1)))


def _kernel(b: Builder) -> None:
    """Operators with weights of as many channels as there are."""
    if len(b.shape) != 4:
        raise ValueError("no picture")
    channels, choose = b.shape[1], b.rng.choice
    scale, bias, mean = (b.constant(b.normal(channels)) for _ in range(3))
    match choose(("Conv", "BatchNormalization", "InstanceNormalization")):
        case "Conv":
            weight = b.normal(choose((1, 2, 4)), channels, choose((1, 3)), choose((1, 3)))
            pads = choose(({}, {"pads": [1, 1, 1, 1]}, {"auto_pad": "SAME_LOWER"}))
            b.add("Conv", b.constant(weight), **pads)
        case "BatchNormalization":
            variance = b.constant(np.abs(b.normal(channels)) + np.float32(0.1))
            b.add("BatchNormalization", scale, bias, mean, variance)
        case "InstanceNormalization":
            b.add("InstanceNormalization", scale, bias)


def _picture(b: Builder) -> None:
    """Operators that move and gather pixels."""
    if len(b.shape) != 4:
        raise ValueError("no picture")
    choose = b.rng.choice
    match choose(("Pad", "Global", "Depth", "Lrn")):
        case "Pad":
            pads = [0, 0, choose((0, 1)), choose((0, 1, 2)), 0, 0, 1, choose((0, 1))]
            mode = choose(("constant", "edge", "reflect"))
            if mode == "reflect" and min(b.shape[2:]) < 3:
                raise ValueError("nothing to reflect")
            b.add("Pad", b.constant(pads, np.int64), mode=mode)
        case "Global":
            b.add(choose(("GlobalAveragePool", "GlobalMaxPool")))
        case "Depth":
            op_type = choose(("DepthToSpace", "SpaceToDepth"))
            if op_type == "SpaceToDepth" and (b.shape[2] % 2 or b.shape[3] % 2):
                raise ValueError("no blocks of two")
            b.add(op_type, blocksize=2)
        case "Lrn":
            b.add("LRN", size=choose((1, 3, 5)))


STEPS: tuple[Step, ...] = (
    *(_unary, _binary, _pool, _pool, _resize, _resize, _move, _along, _kernel, _picture),
)
