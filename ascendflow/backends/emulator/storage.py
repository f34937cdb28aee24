"""Rounds tensors to what the target stores, in an fp32 graph.

A pair of Casts, to fp16 and back, follows each operator whose kernel gives fp16. An fp16
graph would not do: onnxruntime's CPU provider drops the Casts that it inserts between its
fp32 kernels, so 300 * 300 * 0.01 gives 900 and not infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from ascendflow.backends.emulator.arithmetic import is_bounded, is_finite, selects
from ascendflow.cann.rounding import round_to_half
from ascendflow.cann.types import data_inputs
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.edit import initializer
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.cann.kernels import Column
    from ascendflow.cann.soc import Overflow


class Storage:
    """Edits one graph so that every kernel reads and writes what its types hold."""

    def __init__(
        self, model: ir.Model, opset: int, overflow: Overflow, *, clips: bool = False
    ) -> None:
        """Take a graph; `clips`: fp32 constants are clipped to fp16's range first.

        Source of the clip: GE `constant_clip_pass.cc`.
        """
        self._graph = model.graph
        self._opset = opset
        self._overflow: Overflow = overflow
        self._clips = clips
        self._halves = {
            value
            for value in (
                *self._graph.inputs,
                *self._graph.initializers.values(),
                *(value for node in self._graph for value in node.outputs),
            )
            if value.dtype == ir.DataType.FLOAT16
        }
        self._names = {value.name for node in self._graph for value in node.outputs}
        self._names |= {v.name for v in self._graph.inputs} | set(self._graph.initializers)
        self._on_grid: set[ir.Value] = set()
        self._rounded: dict[ir.Value, ir.Value] = {}
        self._scalars: dict[float, ir.Value] = {}
        self._outputs = [(value, value.dtype) for value in self._graph.outputs]

    def apply(self, columns: Mapping[ir.Node, Column], fused: Sequence[ir.Node]) -> None:
        """Insert the roundings; a node without a column has no floats, or is a Cast.

        Args:
            columns: in which types the nodes run.
            fused: nodes that are one kernel with the Casts behind them.
        """
        self._halves.difference_update(node.outputs[0] for node in fused)
        nodes = list(self._graph)
        half_outputs = {v for v, dtype in self._outputs if dtype == ir.DataType.FLOAT16}
        self._widen_initializers()
        self._widen_inputs(nodes)
        for node in nodes:
            if node.op_type == "Cast":
                self._cast(node)
            elif (column := columns.get(node)) is not None:
                self._store(node, column)
        self._narrow_outputs(half_outputs)

    def _store(self, node: ir.Node, column: Column) -> None:
        if column.operand == "float16":
            for index in data_inputs(node):
                value = node.inputs[index]
                if value is not None and value.dtype in FLOATS:
                    node.replace_input_with(index, self._as_half(value, node))
        for value in node.outputs:
            if value.dtype not in FLOATS:
                continue
            if value.dtype == ir.DataType.FLOAT16:
                self._widen_attribute(node)
                value.type = ir.TensorType(ir.DataType.FLOAT)
            if column.result == "float16" and not selects(node):
                self._round_output(
                    value, clip=not is_bounded(node), guard=not is_finite(node)
                )
            elif column.result == "float16":
                self._on_grid.add(value)

    def _cast(self, node: ir.Node) -> None:
        """Keep the types that the graph asks for; Casts are never forced.

        One of an fp16 tensor reads fp16, also where the kernel before it gave fp32.
        """
        source, value = node.inputs[0], node.outputs[0]
        is_lowered = value.dtype == ir.DataType.FLOAT16 and self._clips
        if source is not None and (
            source in self._halves or (is_lowered and _is_wide_constant(source))
        ):
            source = self._as_half(source, node)
            node.replace_input_with(0, source)
        if value.dtype not in FLOATS:
            return
        if source in self._on_grid:
            self._on_grid.add(value)
        if value.dtype == ir.DataType.FLOAT16:
            node.attributes["to"] = ir.AttrInt64("to", ir.DataType.FLOAT)
            value.type = ir.TensorType(ir.DataType.FLOAT)
            if value not in self._on_grid:
                self._round_output(value, clip=True, guard=True)

    def _as_half(self, value: ir.Value, consumer: ir.Node) -> ir.Value:
        """Return `value` on the grid: itself, or one rounded copy for all who need it."""
        if value in self._on_grid:
            return value
        if value not in self._rounded:
            if value.is_initializer():
                self._rounded[value] = self._rounded_initializer(value)
            else:
                nodes = self._rounding(value, clip=True, guard=True)
                self._graph.insert_before(consumer, nodes)
                self._rounded[value] = nodes[-1].outputs[0]
                self._rounded[value].name = self._fresh(f"{value.name}/fp16")
        return self._rounded[value]

    def _rounded_initializer(self, value: ir.Value) -> ir.Value:
        """Round at compile time, lazily: large weights are read one at a time."""
        original = value.const_value
        assert original is not None  # noqa: S101, an initializer has a value
        tensor = ir.LazyTensor(
            lambda: ir.Tensor(self._rounded_weights(original.numpy())),
            ir.DataType.FLOAT,
            ir.Shape(original.shape.numpy()),
            name=self._fresh(f"{value.name}/fp16"),
        )
        return self._add_initializer(tensor)

    def _rounded_weights(self, array: np.ndarray) -> np.ndarray:
        if self._clips:
            array = np.clip(array, -HALF_MAX, HALF_MAX)
        return round_to_half(array, self._overflow)

    def _round_output(self, value: ir.Value, *, clip: bool, guard: bool) -> None:
        """Round what a node gives; the rounded tensor takes over the name and the uses."""
        node, name = value.producer(), value.name
        assert node is not None  # noqa: S101, outputs have producers
        value.name = self._fresh(f"{name}/wide")
        nodes = self._rounding(value, clip=clip, guard=guard)
        rounded = nodes[-1].outputs[0]
        rounded.name = name
        value.replace_all_uses_with(rounded, replace_graph_outputs=True)
        nodes[0].replace_input_with(0, value)
        if nodes[0].op_type == "IsNaN":
            nodes[1].replace_input_with(2, value)
        self._graph.insert_after(node, nodes)
        self._on_grid.add(rounded)

    def _rounding(self, value: ir.Value, *, clip: bool, guard: bool) -> list[ir.Node]:
        """Make the nodes that round `value`; the last one gives the result."""
        nodes: list[ir.Node] = []

        def call(
            op_type: str, role: str, inputs: list[ir.Value], *attributes: ir.Attr
        ) -> ir.Value:
            node = ir.Node("", op_type, inputs, attributes, name=f"{value.name}/{role}")
            node.outputs[0].name = self._fresh(f"{value.name}/{role}")
            nodes.append(node)
            return node.outputs[0]

        current = value
        if guard and self._overflow == "saturate":
            is_nan = call("IsNaN", "is_nan", [current])
            current = call("Where", "no_nan", [is_nan, self._scalar(0.0), current])
        if clip and self._overflow == "saturate":
            if self._opset >= 11:
                bounds = [self._scalar(-HALF_MAX), self._scalar(HALF_MAX)]
                current = call("Clip", "saturated", [current, *bounds])
            else:
                limits = ir.AttrFloat32("min", -HALF_MAX), ir.AttrFloat32("max", HALF_MAX)
                current = call("Clip", "saturated", [current], *limits)
        half = call("Cast", "half", [current], ir.AttrInt64("to", ir.DataType.FLOAT16))
        call("Cast", "stored", [half], ir.AttrInt64("to", ir.DataType.FLOAT))
        result = nodes[-1].outputs[0]
        result.type, result.shape = ir.TensorType(ir.DataType.FLOAT), value.shape
        return nodes

    def _widen_initializers(self) -> None:
        for value in list(self._graph.initializers.values()):
            if value.dtype == ir.DataType.FLOAT16 and value.const_value is not None:
                wide = value.const_value.numpy().astype(np.float32)
                value.const_value = ir.Tensor(wide, name=value.name)
                value.type = ir.TensorType(ir.DataType.FLOAT)
                self._on_grid.add(value)

    def _widen_inputs(self, nodes: list[ir.Node]) -> None:
        for value in self._graph.inputs:
            if value.dtype == ir.DataType.FLOAT16 and nodes:
                to_float = ir.AttrInt64("to", ir.DataType.FLOAT)
                cast = ir.Node(
                    "", "Cast", [value], [to_float], name=f"{value.name}/float32"
                )
                wide = cast.outputs[0]
                wide.name = self._fresh(f"{value.name}/float32")
                wide.type, wide.shape = ir.TensorType(ir.DataType.FLOAT), value.shape
                value.replace_all_uses_with(wide)
                cast.replace_input_with(0, value)
                self._graph.insert_before(nodes[0], cast)
                self._on_grid.add(wide)

    def _narrow_outputs(self, half_outputs: set[ir.Value]) -> None:
        """Give fp16 where the ONNX graph does; its own name goes to the narrow tensor."""
        for position, (original, _) in enumerate(self._outputs):
            value = self._graph.outputs[position]
            if original not in half_outputs or value.producer() is None:
                continue
            name = value.name
            value.name = self._fresh(f"{name}/float32")
            if value not in self._on_grid:
                self._graph.extend(nodes := self._rounding(value, clip=True, guard=True))
                value = nodes[-1].outputs[0]
                value.name = self._fresh(f"{name}/fp16")
            to_half = ir.AttrInt64("to", ir.DataType.FLOAT16)
            cast = ir.Node("", "Cast", [value], [to_half], name=f"{name}/float16")
            narrow = cast.outputs[0]
            narrow.name = name
            narrow.type, narrow.shape = ir.TensorType(ir.DataType.FLOAT16), value.shape
            self._graph.append(cast)
            self._graph.outputs[position] = narrow

    def _widen_attribute(self, node: ir.Node) -> None:
        if node.op_type == "ConstantOfShape" and "value" in node.attributes:
            wide = node.attributes["value"].as_tensor().numpy().astype(np.float32)
            node.attributes["value"] = ir.AttrTensor("value", ir.Tensor(wide))

    def _scalar(self, number: float) -> ir.Value:
        if number not in self._scalars:
            name = self._fresh(f"ascendflow/{number:g}")
            self._scalars[number] = self._add_initializer(
                ir.Tensor(np.array(number, np.float32), name=name)
            )
        return self._scalars[number]

    def _add_initializer(self, tensor: ir.TensorProtocol) -> ir.Value:
        value = initializer(tensor)
        self._graph.register_initializer(value)
        self._on_grid.add(value)
        return value

    def _fresh(self, name: str) -> str:
        """Return `name`, or the next free name like it."""
        candidate, number = name, 0
        while candidate in self._names:
            number += 1
            candidate = f"{name}.{number}"
        self._names.add(candidate)
        return candidate


def _is_wide_constant(value: ir.Value) -> bool:
    return value.is_initializer() and value.dtype == ir.DataType.FLOAT
