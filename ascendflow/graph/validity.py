"""Holds a model to ONNX's own rules, as far as they are about what ONNX knows.

An operator without a schema in its opset, or a deprecated one, is for lint to name, each
node of it; onnx's checker would stop at the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.giants import can_follow
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.traverse import every_node

if TYPE_CHECKING:
    import onnx

_ELSEWHERE = "ascendflow.unknown"
_MISSING = "is required but missing"


def why_against_the_rules(model: onnx.ModelProto) -> str | None:
    """Return what onnx's checker has against `model`, weights left out, or None."""
    import onnx

    light = without_weights(model)
    for node in every_node(light):
        if node.domain in DEFAULT_DOMAINS and not _has_schema(node, model):
            node.domain = _ELSEWHERE
    for scope in (light, *light.functions):
        scope.opset_import.add(domain=_ELSEWHERE, version=1)
    try:
        onnx.checker.check_model(light)
    except (onnx.checker.ValidationError, UnicodeDecodeError) as error:
        return f"{error}{unnamed(str(error), model)}"
    return None


def unnamed(said: str, model: onnx.ModelProto) -> str:
    """Name the inputs and outputs of which onnx's checker only says what is missing."""
    if _MISSING not in said:
        return ""
    kinds = ("input", model.graph.input), ("output", model.graph.output)
    lacking = [
        f"{kind} {value.name!r} has no {what}"
        for kind, values in kinds
        for value in values
        if (what := _lacks(value))
    ]
    return f" ({'; '.join(lacking)})" if lacking else ""


def _lacks(value: onnx.ValueInfoProto) -> str | None:
    if not value.HasField("type"):
        return "type"
    is_tensor = value.type.HasField("tensor_type")
    return "shape" if is_tensor and not value.type.tensor_type.HasField("shape") else None


def why_inconsistent(model: onnx.ModelProto) -> str | None:
    """Return what types, shapes and lengths of attributes do not fit together, or None."""
    import onnx

    light, follow = without_weights(model), can_follow(model)
    try:
        onnx.shape_inference.infer_shapes(
            light, check_type=True, strict_mode=True, data_prop=follow
        )
    except Exception as error:  # noqa: BLE001  InferenceError, and what is behind it
        return " ".join(str(error).split())
    return None


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Copy `model` with its external initializers turned into inputs.

    onnx's checker looks for external data beside the file; here there is none to read.
    """
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    external = [
        tensor
        for tensor in copy.graph.initializer
        if tensor.data_location == onnx.TensorProto.EXTERNAL
    ]
    known = {value.name for value in copy.graph.input}
    for tensor in external:
        copy.graph.initializer.remove(tensor)
        if tensor.name not in known:
            copy.graph.input.add().CopyFrom(
                onnx.helper.make_tensor_value_info(
                    tensor.name, tensor.data_type, tensor.dims
                )
            )
    return copy


def _has_schema(node: onnx.NodeProto, model: onnx.ModelProto) -> bool:
    import onnx

    versions = [o.version for o in model.opset_import if o.domain in DEFAULT_DOMAINS]
    if not versions or not 0 < versions[0] < 1 << 31:
        return True  # for the checker to complain of
    try:
        schema = onnx.defs.get_schema(node.op_type, versions[0], "")
    except (onnx.defs.SchemaError, TypeError):  # TypeError: a name that is no UTF-8
        return False
    return not schema.deprecated
