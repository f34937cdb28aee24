"""What the stand-in device makes of an OM that the stand-in of ATC wrote.

The ONNX model lies in the OM's weights, behind a line of JSON that says how it was built.
onnxruntime computes what the device would. What the device is, and what it does wrong,
stands in `device.json` of the toolkit. Nothing of ascendflow is imported, and it refuses to
run where it could be.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import struct
import time

import numpy as np
import onnx
import onnxruntime
import standin_aipp
import standin_dump
from standin_told import told

TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
}
GEARS = ("dynamic_batch_size", "dynamic_image_size", "dynamic_dims")
HIDDEN = "ascend_mbatch_shape_data"


class Om:
    """A loaded model: its signature, and a way to run it."""

    def __init__(self, path):
        if importlib.util.find_spec("ascendflow") is not None:
            raise RuntimeError("ascendflow can be imported where an OM is run")
        if not os.environ.get("ASCEND_OPP_PATH"):
            raise RuntimeError("the toolkit's environment is not there")
        self.arguments, model = self._read(path)
        self.kind = next((kind for kind in GEARS if kind in self.arguments), "static")
        text = self.arguments.get("input_shape", "")
        if self.kind == "static" and "-1" in text:
            self.kind = "dynamic"
        graph = model.graph
        self.shapes = {
            each.name: [d.dim_value or -1 for d in each.type.tensor_type.shape.dim]
            for each in graph.input
        }
        for item in filter(None, text.split(";")):
            name, _, sizes = item.rpartition(":")
            self.shapes[name] = [int(n) for n in sizes.split(",") if n]
        self._halves = self.arguments.get("input_fp16_nodes", "").split(";")
        self.inputs = [
            (each.name, "float16" if each.name in self._halves else self._type(each))
            for each in graph.input
        ]
        self._take_pictures()
        self.outputs = list(self._outputs(graph))
        self._open(graph)
        if told("resize"):
            self._spoil(graph)
        self._model, self._path = model, path
        self._session = self._loaded(model)
        self.calls = self.device = 0
        if self.kind in GEARS:
            # A device tells the sizes of the largest gear.
            sizes = [list(each.shape) for each in self._largest()]
            self.outputs = [(n, t, s) for (n, t, _), s in zip(self.outputs, sizes)]

    @staticmethod
    def _loaded(model):
        return onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )

    def tensors(self, feeds):
        """Return what it computes on the way."""
        return standin_dump.every_tensor(self._model, feeds, self._loaded)

    def _take_pictures(self):
        """With AIPP the first input is a picture; the gears of the stand-in have none."""
        if self.arguments["aipp"]:
            name, _ = self.inputs[0]
            self.inputs[0] = (name, "uint8")
            n, c, h, w = self.shapes[name]
            self.shapes[name] = [n, h, w, c]

    @staticmethod
    def _read(path):
        with open(path, "rb") as file:
            content = file.read()
        if content[:4] != b"IMOD":
            raise RuntimeError("load model from file failed, ret[145006]")
        (count,) = struct.unpack_from("<I", content, 256)
        _, _, offset, size = struct.unpack_from("<IIQQ", content, 256 + 8 + 24)
        start = 256 + 8 + count * 24 + offset
        line, _, rest = content[start : start + size].partition(b"\n")
        return json.loads(line), onnx.load_from_string(rest)

    @staticmethod
    def _type(value):
        return TYPES[value.type.tensor_type.elem_type]

    def _outputs(self, graph):
        made = {t: (n.name, i) for n in graph.node for i, t in enumerate(n.output)}
        fp16 = self.arguments.get("output_type") == "FP16"
        for each in graph.output:
            node, port = made[each.name]
            dims = [d.dim_value or -1 for d in each.type.tensor_type.shape.dim]
            if self.kind == "dynamic":
                dims = [-1] * len(dims)
            dtype = "float16" if fp16 else self._type(each)
            yield "{}:{}:{}".format(node, port, each.name), dtype, dims

    def _open(self, graph):
        """Take the shapes out of the graph where the OM has open ones."""
        if self.kind == "static":
            return
        for each in graph.input:
            for place, size in enumerate(self.shapes[each.name]):
                if size == -1:
                    each.type.tensor_type.shape.dim[place].dim_param = each.name + str(
                        place
                    )
        for each in graph.output:
            each.type.tensor_type.ClearField("shape")
        del graph.value_info[:]

    @staticmethod
    def _spoil(graph):
        """Sample as CANN's old kernels do, which know no half pixels."""
        name = "coordinate_transformation_mode"
        for node in graph.node:
            if node.op_type == "Resize":
                kept = [each for each in node.attribute if each.name != name]
                del node.attribute[:]
                node.attribute.extend(kept)
                node.attribute.append(onnx.helper.make_attribute(name, "asymmetric"))

    def gears(self):
        """Return the gears as lists of numbers."""
        text = self.arguments.get(self.kind, "")
        between = "," if self.kind == "dynamic_batch_size" else ";"
        return [[int(n) for n in gear.split(",")] for gear in text.split(between) if gear]

    def _largest(self):
        gear = max(self.gears(), key=lambda each: int(np.prod(each)))
        left, feeds = list(gear), {}
        for name, dtype in self.inputs:
            if self.kind != "dynamic_dims":
                left = list(gear)
            shape = [left.pop(0) if n == -1 else n for n in self.shapes[name]]
            feeds[name] = np.zeros(shape, dtype)
        return self._session.run(None, feeds)

    def run(self, contents, shapes):
        """Run on bytes, taken for what the OM's inputs are, of these shapes."""
        if told("dies_at") == self.calls:
            os.kill(os.getpid(), signal.SIGSEGV)
        self.calls += 1
        time.sleep(told("sleeps_s", 0))
        feeds = {}
        for (name, dtype), content, shape in zip(self.inputs, contents, shapes):
            feeds[name] = np.frombuffer(content, dtype).reshape(shape)
            if name in self._halves:
                feeds[name] = feeds[name].astype(np.float32)
        if self.arguments["aipp"]:
            name, _ = self.inputs[0]
            feeds[name] = standin_aipp.prepared(feeds[name], self.arguments["aipp"])
        outputs = self._session.run(None, feeds)
        if standin_dump.is_on(self._path):
            operators = self.arguments["operators"]
            standin_dump.write(self._path, self.device, operators, self.tensors(feeds))
            if told("dump") == "changes outputs":
                outputs = [each + each.dtype.type(0.5) for each in outputs]
        if told("reordered"):
            outputs = [each[::-1] for each in outputs]
        if told("empty"):
            outputs = [each[:0] for each in outputs]
        return [x.astype(dtype) for x, (_, dtype, _) in zip(outputs, self.outputs)]
