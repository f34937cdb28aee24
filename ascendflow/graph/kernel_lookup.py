"""Whether onnxruntime's CPU provider runs a node at all, in the types that it has there.

A kernel is looked up by operator, version and types. For a node without one ONNX may have
a function, whose nodes are looked up in turn; that is left to onnxruntime, which is given
the node alone.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from ascendflow.graph.nodes import bodies_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAST = 2**31 - 1
"""The last version of a kernel that is not limited."""

Types = tuple["str | None", ...]


class KernelLookup:
    """Looks nodes of ONNX's own domain up, each combination of types once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int | None, Types, Types], bool] = {}

    def has_kernel(self, node: ir.Node) -> bool:
        """Return whether `node`, its `version` set, is run; fp16 as the fp32 it becomes.

        What has a type that is not known is taken to be run.
        """
        inputs, outputs = map(_types, (node.inputs, node.outputs))
        key = node.op_type, node.version, inputs, outputs
        if key not in self._known:
            self._known[key] = (
                node.version is None
                or _is_registered(node.op_type, node.version, inputs, outputs)
                or _is_run_alone(node)
            )
        return self._known[key]


def _types(values: Sequence[ir.Value | None]) -> Types:
    return tuple(map(_spelled, values))


def _spelled(value: ir.Value | None) -> str | None:
    if value is None or not isinstance(value.type, ir.TensorType):
        return None
    dtype = value.type.dtype
    name = "float" if dtype == ir.DataType.FLOAT16 else dtype.name.lower()
    return f"tensor({name})"


def _is_registered(op_type: str, version: int, inputs: Types, outputs: Types) -> bool:
    import onnx

    try:
        schema = onnx.defs.get_schema(op_type, version, "")
    except (onnx.defs.SchemaError, TypeError):
        return False
    found: dict[str, str] = {}
    for formal, given in ((schema.inputs, inputs), (schema.outputs, outputs)):
        for index, dtype in enumerate(given):
            each = formal[min(index, len(formal) - 1)] if formal else None
            if each is not None and dtype is not None:
                found.setdefault(each.type_str, dtype)
                found.setdefault(each.name, dtype)
    return any(_takes(k, schema.since_version, found) for k in _kernels()[op_type])


def _takes(kernel: Any, since: int, types: Mapping[str, str]) -> bool:
    """Return whether a kernel is of a version of the operator, and takes these types."""
    first, last = kernel.version_range
    is_version = since == first or (last != _LAST and first <= since <= last)
    return is_version and all(
        name not in types or types[name] in allowed
        for name, allowed in kernel.type_constraints.items()
    )


@cache
def _kernels() -> Mapping[str, list[Any]]:
    """Return operator -> kernels; none where onnxruntime was built without the list."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = defaultdict(list)
    for kernel in getattr(state, "get_all_opkernel_def", list)():
        if not kernel.domain and kernel.provider == "CPUExecutionProvider":
            found[kernel.op_name].append(kernel)
    return found


def _is_run_alone(node: ir.Node) -> bool:
    """Ask onnxruntime to load the node alone; what else it says of it is not heard."""
    import onnxruntime as ort
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    from ascendflow.graph.run import session_options

    if any(True for _ in bodies_of(node)):
        return True
    options = session_options(threads=1)
    options.log_severity_level = 4
    try:
        alone = _alone(node)
        ort.InferenceSession(alone, options, providers=["CPUExecutionProvider"])
    except state.NotImplemented:
        return False
    except Exception:  # noqa: BLE001, onnxruntime's classes share no public base
        return True
    return True


def _alone(node: ir.Node) -> bytes:
    """Return a model that is this node, of the same attributes and types."""
    inputs = {value: _copied(value) for value in node.inputs if value is not None}
    copied = ir.Node(
        "",
        node.op_type,
        [value and inputs[value] for value in node.inputs],
        node.attributes.values(),
        outputs=list(map(_copied, node.outputs)),
    )
    graph = ir.Graph(
        list(inputs.values()),
        [value for value in copied.outputs if value.name],
        nodes=[copied],
        opset_imports={"": node.version or 0},
    )
    proto = ir.to_proto(ir.Model(graph, ir_version=8))
    return bytes(proto.SerializeToString())


def _copied(value: ir.Value) -> ir.Value:
    wide = value.dtype == ir.DataType.FLOAT16
    dtype = ir.TensorType(ir.DataType.FLOAT) if wide else value.type
    return ir.Value(name=value.name, type=dtype, shape=value.shape)
