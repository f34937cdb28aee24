"""Rewritten ONNX -> the ONNX graph that computes what CANN would run.

First every node is asked for, so that one error names all that is not modelled. Then the
types in which nodes run are chosen (cann/types), roundings put in (storage), and each
deviation (cann/deviations) edits the kernels between them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.backends.emulator.findings import applied, behaviours, fusions
from ascendflow.backends.emulator.modelled import modelled
from ascendflow.backends.emulator.refusals import refuse
from ascendflow.backends.emulator.storage import Storage
from ascendflow.cann.deviations.by_operator import node_deviations
from ascendflow.cann.kernels import HALF, MIXED, Column
from ascendflow.cann.lint import lint
from ascendflow.cann.operators import target_op
from ascendflow.cann.types import choose, runs_in_half
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.edit import initializer
from ascendflow.graph.nodes import label, opset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.cann.lint import Finding
    from ascendflow.cann.target import Target
    from ascendflow.cann.types import Choice
    from ascendflow.documents.conversion import AppliedDeviation


@dataclass
class Lowered:
    """What was learned while lowering; the graph itself is edited in place.

    Attributes:
        tensors: ONNX tensor name -> dtype, for every node output that the target has too.
        applied: deviations from ONNX, with the nodes whose values they change.
        modelled_nodes: nodes whose kernel's behaviour comes from a source.
        assumed: operator type -> number of nodes taken to equal ONNX but for rounding.
        target_ops: ONNX node name -> GE operator, or None.
        keepable: ONNX names of the nodes that keep_dtype would run in other types.
        behaviours: two where no source says which of them CANN has; this is the one with
            the number of the alternative. Else empty.
    """

    tensors: dict[str, str] = field(default_factory=dict)
    applied: list[AppliedDeviation] = field(default_factory=list)
    modelled_nodes: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    target_ops: dict[str, str | None] = field(default_factory=dict)
    keepable: list[str] = field(default_factory=list)
    behaviours: tuple[str, ...] = ()


def lower(model: ir.Model, target: Target, alternative: int = 0) -> Lowered:
    """Turn `model`, loaded with its shapes, into what the target computes, in place.

    Args:
        model: the graph.
        target: what it is built for.
        alternative: which of two behaviours it computes where no source decides between
            them; the same for all nodes.

    Raises:
        StageError: CANN refuses the model.
        NotModelledError: nothing is known of what CANN would do with some node.
    """
    version = next((opset(node, model) for node in model.graph), None)
    version = version or model.graph.opset_imports.get("")
    choices = choose(model, target)
    findings = list(lint(model, target, choices, all_weights=True))
    refuse(model, target, findings)
    columns = _columns(model, choices)
    fused = _fuse_casts(columns)
    lowered = _describe(model, fused, findings)
    lowered.keepable = [
        label(node) for node in model.graph if node in choices and choices[node].keepable
    ]
    _fold_constants(model.graph)
    _drop_default_inputs(model)
    assert version is not None  # noqa: S101, lint finds it (opset-window)
    clips = target.conditions(half=False).clips_weights
    Storage(model, version, target.soc.overflow, clips=clips).apply(columns, fused)
    _emulate(model.graph, choices, target, alternative)
    lowered.behaviours = behaviours(findings)
    given = {value.name for node in model.graph for value in node.outputs}
    lowered.tensors = {n: dtype for n, dtype in lowered.tensors.items() if n in given}
    lowered.applied = [*applied(findings), *fusions(fused)]
    _forget_shapes(model.graph)
    return lowered


def _columns(model: ir.Model, choices: Mapping[ir.Node, Choice]) -> dict[ir.Node, Column]:
    """Return the types of the main graph's nodes."""
    return {
        node: column
        for node in model.graph
        if node in choices and (column := choices[node].column) is not None
    }


def _fuse_casts(columns: dict[ir.Node, Column]) -> list[ir.Node]:
    """Let Conv and MatMul that only Casts to fp32 read give fp32, and list them."""
    fused = []
    for node, column in columns.items():
        if node.op_type not in {"Conv", "MatMul"} or column != HALF:
            continue
        value = node.outputs[0]
        consumers = value.consumers()
        if (
            consumers
            and not value.is_graph_output()
            and all(map(_casts_to_float, consumers))
        ):
            columns[node] = MIXED
            fused.append(node)
    return fused


def _casts_to_float(node: ir.Node) -> bool:
    return node.op_type == "Cast" and node.attributes.get_int("to") == ir.DataType.FLOAT


def _describe(model: ir.Model, fused: list[ir.Node], findings: list[Finding]) -> Lowered:
    lowered = Lowered()
    sourced = modelled(model.graph, findings)
    for node in model.graph:
        name = label(node)
        lowered.target_ops[name] = target_op(node)
        if node in sourced:
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
        and node.outputs[0].dtype in FLOATS
    )


def _fold_constants(graph: ir.Graph) -> None:
    """Turn floating Constant nodes into initializers, which are rounded at compile time."""
    for node in list(graph):
        if not _is_float_constant(node):
            continue
        old = node.outputs[0]
        tensor = ir.convenience.get_const_tensor(old)
        assert tensor is not None  # noqa: S101, a Constant has a value
        new = initializer(tensor, old.name)
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


def _emulate(
    graph: ir.Graph,
    choices: Mapping[ir.Node, Choice],
    target: Target,
    alternative: int,
) -> None:
    """Let each deviation edit the nodes of its types, as far as they are still there."""
    whole = target.conditions(half=False, choices=choices, alternative=alternative)
    in_half = replace(whole, half=True)
    for node in list(graph.all_nodes()):
        home = node.graph
        conditions = in_half if runs_in_half(node, whole) else whole
        for deviation in node_deviations(node.op_type):
            if node.graph is home:
                deviation.emulate(node, conditions)


def _forget_shapes(graph: ir.Graph) -> None:
    """Drop inferred types: CANN may give other sizes, and kernels run in other types."""
    for node in graph:
        for value in node.outputs:
            if not value.is_graph_output():
                value.type = value.shape = None
    for value in list(graph.initializers.values()):
        if not value.uses() and not value.is_graph_output():
            del graph.initializers[str(value.name)]
