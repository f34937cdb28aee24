"""Rewritten ONNX -> the ONNX graph that computes what CANN would run.

First every node is asked for, so that one error names all that is not modelled. Then the
types in which nodes run are chosen (cann/precision), roundings put in (storage), and each
deviation (cann/deviations) edits the kernels between them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.backends.emulator.refusals import (
    floating,
    node_gaps,
    raise_gaps,
    refuse_model,
)
from ascendflow.backends.emulator.storage import Storage
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import Conditions
from ascendflow.cann.gap import Gap
from ascendflow.cann.operators import target_op
from ascendflow.cann.precision import CUBES, HALF, MIXED, NodePrecision, node_precision
from ascendflow.graph.nodes import label, opset

if TYPE_CHECKING:
    from ascendflow.cann.profile import Profile
    from ascendflow.cann.soc import Soc
    from ascendflow.documents.conversion import AppliedDeviation

CAST_FUSION = "cube-cast-fusion"
CAST_FUSION_SOURCE = (
    "canndev MatmulCastFusionPass; CANN 8.1.RC1 fusion_config.json ConvCastFusionPass"
)


@dataclass(frozen=True)
class Settings:
    """What the manifest asks for, looked up."""

    profile: Profile
    soc: Soc
    precision_mode: str


@dataclass
class Lowered:
    """What was learned while lowering; the graph itself is edited in place.

    Attributes:
        tensors: ONNX tensor name -> dtype, for every node output that the target has too.
        applied: deviations from ONNX, with the nodes whose values they change.
        modelled_nodes: nodes whose kernel's behaviour comes from a source.
        assumed: operator type -> number of nodes taken to equal ONNX but for rounding.
        target_ops: ONNX node name -> GE operator, or None.
    """

    tensors: dict[str, str] = field(default_factory=dict)
    applied: list[AppliedDeviation] = field(default_factory=list)
    modelled_nodes: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    target_ops: dict[str, str | None] = field(default_factory=dict)


def lower(model: ir.Model, settings: Settings) -> Lowered:
    """Turn `model`, loaded with its shapes, into what the target computes, in place.

    Raises:
        StageError: CANN refuses the model.
        NotModelledError: nothing is known of what CANN would do with some node.
    """
    version = next((opset(node, model) for node in model.graph), None)
    version = version or model.graph.opset_imports.get("")
    refuse_model(model, version, settings.profile)
    precisions = _choose(model, settings)
    fused = _fuse_casts(precisions)
    lowered = _describe(model, fused)
    _fold_constants(model.graph)
    _drop_default_inputs(model)
    assert version is not None  # noqa: S101, refuse_model
    Storage(model, version, settings.soc.overflow).apply(precisions)
    lowered.applied = [*_deviate(precisions, settings), *_fusions(fused)]
    _forget_shapes(model.graph)
    return lowered


def _choose(model: ir.Model, settings: Settings) -> dict[ir.Node, NodePrecision]:
    """Choose each node's types, or raise one error about all that cannot be lowered."""
    gaps: list[tuple[ir.Node, Gap]] = []
    precisions: dict[ir.Node, NodePrecision] = {}
    for node in model.graph.all_nodes():
        node.version = opset(node, model)
        found = list(node_gaps(node))
        if not found and node.graph is model.graph:
            chosen = _precision(node, settings)
            if isinstance(chosen, NodePrecision):
                precisions[node] = chosen
            conditions = _conditions(settings, precisions.get(node))
            refusals = [
                d.gap(node, conditions) for d in DEVIATIONS if node.op_type in d.op_types
            ]
            found = [gap for gap in (chosen, *refusals) if isinstance(gap, Gap)]
        gaps.extend((node, gap) for gap in found)
    raise_gaps(gaps, settings.profile.version)
    return precisions


def _precision(node: ir.Node, settings: Settings) -> NodePrecision | Gap | None:
    """Return None for a node without floats, and for Cast, which is never forced."""
    values = list(floating(node))
    if node.op_type == "Cast" or not values:
        return None
    half = any(value.dtype == ir.DataType.FLOAT16 for value in values)
    shape = node.inputs[0].shape if node.inputs and node.inputs[0] is not None else None
    return node_precision(
        node.op_type,
        "float16" if half else "float32",
        None if shape is None else len(shape),
        settings.precision_mode,
        settings.soc,
    )


def _fuse_casts(precisions: dict[ir.Node, NodePrecision]) -> list[ir.Node]:
    """Let Conv and MatMul that only Casts to fp32 read give fp32, and list them."""
    fused = []
    for node, precision in precisions.items():
        if node.op_type not in {"Conv", "MatMul"} or precision != HALF:
            continue
        value = node.outputs[0]
        consumers = value.consumers()
        if (
            consumers
            and not value.is_graph_output()
            and all(map(_casts_to_float, consumers))
        ):
            precisions[node] = MIXED
            fused.append(node)
    return fused


def _casts_to_float(node: ir.Node) -> bool:
    return node.op_type == "Cast" and node.attributes.get_int("to") == ir.DataType.FLOAT


def _describe(model: ir.Model, fused: list[ir.Node]) -> Lowered:
    lowered = Lowered()
    sourced = CUBES | {"Cast"} | frozenset().union(*(d.op_types for d in DEVIATIONS))
    for node in model.graph:
        name = label(node)
        lowered.target_ops[name] = target_op(node)
        if node.op_type in sourced:
            lowered.modelled_nodes += 1
        elif node.op_type != "Constant":  # data, not a kernel
            lowered.assumed[node.op_type] += 1
        # A fused Cast leaves one tensor on the target: the Cast's.
        if node not in fused and not _is_float_constant(node):
            for value in node.outputs:
                if value.name and value.dtype is not None:
                    lowered.tensors[value.name] = value.dtype.numpy().name
    return lowered


def _is_float_constant(node: ir.Node) -> bool:
    return (
        node.op_type == "Constant"
        and not node.outputs[0].is_graph_output()
        and not node.attributes.keys().isdisjoint({"value", "value_float", "value_floats"})
        and node.outputs[0].dtype in {ir.DataType.FLOAT, ir.DataType.FLOAT16}
    )


def _fold_constants(graph: ir.Graph) -> None:
    """Turn floating Constant nodes into initializers, which are rounded at compile time."""
    for node in list(graph):
        if not _is_float_constant(node):
            continue
        old = node.outputs[0]
        tensor = ir.convenience.get_const_tensor(old)
        assert tensor is not None  # noqa: S101, a Constant has a value
        new = ir.Value(
            name=old.name,
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(tensor.shape.numpy()),
            const_value=tensor,
        )
        old.replace_all_uses_with(new)
        graph.remove(node, safe=True)
        graph.register_initializer(new)


def _drop_default_inputs(model: ir.Model) -> None:
    """Make initializers that are inputs too (IR 3 lists them so) plain constants."""
    graph = model.graph
    fed = [value for value in graph.inputs if not value.is_initializer()]
    if len(fed) < len(graph.inputs):
        graph.inputs[:] = fed
        model.ir_version = max(model.ir_version, 4)


def _deviate(
    precisions: dict[ir.Node, NodePrecision], settings: Settings
) -> list[AppliedDeviation]:
    applied: list[AppliedDeviation] = []
    for deviation in DEVIATIONS:
        changed = []
        for node, precision in precisions.items():
            if node.op_type not in deviation.op_types or node.graph is None:
                continue
            conditions = _conditions(settings, precision)
            if deviation.difference(node, conditions) is not None:
                changed.append(label(node))
            deviation.lower(node, conditions)
        if changed:
            applied.append(
                {
                    "deviation": deviation.name,
                    "nodes": changed,
                    "rule": deviation.cure,
                    "confidence": deviation.confidence(_conditions(settings, None)),
                    "source": deviation.source,
                }
            )
    return applied


def _fusions(fused: list[ir.Node]) -> list[AppliedDeviation]:
    if not fused:
        return []
    names = [label(node) for node in fused]
    return [
        {
            "deviation": CAST_FUSION,
            "nodes": names,
            "rule": None,
            "confidence": "medium",
            "source": CAST_FUSION_SOURCE,
        }
    ]


def _conditions(settings: Settings, precision: NodePrecision | None) -> Conditions:
    half = precision is not None and precision.operands == "float16"
    return Conditions(settings.profile, settings.soc, half)


def _forget_shapes(graph: ir.Graph) -> None:
    """Drop inferred types: CANN may give other sizes, and kernels run in other types."""
    for node in graph:
        for value in node.outputs:
            if not value.is_graph_output():
                value.type = value.shape = None
    for value in list(graph.initializers.values()):
        if not value.uses() and not value.is_graph_output():
            del graph.initializers[str(value.name)]
