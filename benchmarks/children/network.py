"""A Pyramid Attention Network over ResNet-50, in ONNX: 172 nodes, 8 of them Resize.

Of the same kind as `pipelines/pan`, and larger. Its weights come from a seed, since only
what they cost is measured. BatchNorm is folded, as onnxsim leaves it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

BLOCKS = (3, 4, 6, 3)
DECODER = 32
CLASSES = 19
INPUT = "image"
GAIN = 1.0
"""Of the variance: activations neither vanish nor overflow float16."""


def write(path: Path, side: int = 512) -> int:
    """Write the network for images of 1x3x`side`x`side`; return how many nodes it has."""
    made = _Graph()
    levels = made.encoder(INPUT)
    deep = made.pyramid_attention(levels[3], side // 32)
    for level in (2, 1, 0):
        deep = made.attention_upsample(levels[level], deep, 256 << level)
    made.resize(made.conv(deep, (DECODER, CLASSES, 3)), 4)
    made.nodes[-1].output[0] = "logits"
    float32 = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        made.nodes,
        "pan",
        [helper.make_tensor_value_info(INPUT, float32, [1, 3, side, side])],
        [helper.make_tensor_value_info("logits", float32, [1, CLASSES, side, side])],
        made.weights,
    )
    opset = [helper.make_opsetid("", 15)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return len(made.nodes)


def image(side: int = 512) -> np.ndarray:
    """Return one input: float32 [1, 3, side, side], from a seed."""
    return np.random.default_rng(1).standard_normal((1, 3, side, side), dtype=np.float32)


def lower(onnx_file: Path, folder: Path) -> None:
    """Convert for the emulator as a manifest does that says nothing of precision."""
    from ascendflow.backends.emulator.backend import Emulator

    target = {"cann": "8.1", "soc_version": "Ascend310P3", "precision_mode": "force_fp16"}
    Emulator().compile(onnx_file, folder, target)


class _Graph:
    """Nodes and weights; every method adds nodes and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)

    def add(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op_type}_{len(self.nodes)}"
        node = helper.make_node(op_type, inputs, [f"{name}_out"], name, **attributes)
        self.nodes.append(node)
        return f"{name}_out"

    def weight(self, values: np.ndarray) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x: str, shape: tuple[int, int, int], stride: int = 1) -> str:
        """Add a convolution; `shape` is channels in, channels out, the kernel's side."""
        inputs, outputs, kernel = shape
        scale = np.float32((GAIN / (inputs * kernel**2)) ** 0.5)
        values = self._random.standard_normal(
            (outputs, inputs, kernel, kernel), dtype=np.float32
        )
        bias = self._random.standard_normal(outputs, dtype=np.float32)
        names = self.weight(values * scale), self.weight(bias * np.float32(0.1))
        sides = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        return self.add("Conv", x, *names, **sides, strides=[stride] * 2)

    def block(self, x: str, shape: tuple[int, int, int], stride: int = 1) -> str:
        return self.add("Relu", self.conv(x, shape, stride))

    def pool(self, x: str, kernel: int = 2) -> str:
        pads = [(kernel - 1) // 2] * 4
        return self.add("MaxPool", x, kernel_shape=[kernel] * 2, strides=[2, 2], pads=pads)

    def resize(self, x: str, factor: int) -> str:
        scales = self.weight(np.array([1, 1, factor, factor], np.float32))
        half_pixel = {"coordinate_transformation_mode": "half_pixel"}
        return self.add("Resize", x, "", scales, mode="linear", **half_pixel)

    def encoder(self, x: str) -> list[str]:
        """ResNet-50; outputs at 1/4, 1/8, 1/16 and 1/32 of the image's side."""
        x, inputs = self.pool(self.block(x, (3, 64, 7), 2), 3), 64
        levels = []
        for level, count in enumerate(BLOCKS):
            width = 64 << level
            for index in range(count):
                stride = 2 if level and not index else 1
                inner = self.block(x, (inputs, width, 1))
                inner = self.block(inner, (width, width, 3), stride)
                inner = self.conv(inner, (width, 4 * width, 1))
                if not index:
                    x = self.conv(x, (inputs, 4 * width, 1), stride)
                x, inputs = self.add("Relu", self.add("Add", inner, x)), 4 * width
            levels.append(x)
        return levels

    def pyramid_attention(self, x: str, side: int) -> str:
        """Weigh the deepest features by what larger windows see, and add the whole's."""
        whole = self.conv(self.add("GlobalAveragePool", x), (2048, DECODER, 1))
        whole = self.resize(whole, side)
        middle = self.block(x, (2048, DECODER, 1))
        first = self.block(self.pool(x), (2048, 1, 7))
        second = self.block(self.pool(first), (1, 1, 5))
        third = self.block(self.block(self.pool(second), (1, 1, 3)), (1, 1, 3))
        second = self.add("Add", self.block(second, (1, 1, 5)), self.resize(third, 2))
        first = self.add("Add", self.block(first, (1, 1, 7)), self.resize(second, 2))
        weighed = self.add("Mul", middle, self.resize(first, 2))
        return self.add("Add", weighed, whole)

    def attention_upsample(self, shallow: str, deep: str, inputs: int) -> str:
        """Let deeper features weigh the channels of shallower ones."""
        low = self.block(shallow, (inputs, DECODER, 3))
        weights = self.block(self.add("GlobalAveragePool", deep), (DECODER, DECODER, 1))
        return self.add("Add", self.add("Mul", low, weights), self.resize(deep, 2))


if __name__ == "__main__":
    made = Path(sys.argv[1])
    nodes = write(made / "pan.onnx")
    lower(made / "pan.onnx", made / "emulated")
    np.save(made / "image.npy", image())
    print(json.dumps({"nodes": nodes}))
