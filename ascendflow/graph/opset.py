"""Brings a model to a lower opset with ONNX's version converter, weights left out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import is_external
from ascendflow.graph.io_spec import DEFAULT_DOMAINS, opset_of
from ascendflow.graph.load import without_weights
from ascendflow.graph.traverse import every_node

if TYPE_CHECKING:
    import onnx

_ASIDE = "ascendflow.unchanged"
"""A domain the converter passes over."""
_SAME_SINCE = 13


def convert_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return `model` written in `opset`.

    ONNX's converter knows nothing of external data, so such tensors go in as inputs and
    come back as they were. It lacks adapters for some nodes that are spelled the same in
    both opsets; those are kept from its sight. It is not to be trusted with values (its
    Resize from opset 10 to 11 drops what keeps them), so whoever calls this must compare
    outputs.

    Args:
        model: left as it is.
        opset: version of ONNX's own operators.

    Raises:
        StageError: the converter has no way there.
    """
    import onnx

    light = without_weights(model)
    aside = [node for node in every_node(light) if _is_unchanged(node, opset)]
    for node in aside:
        node.domain = _ASIDE
    if aside:
        light.opset_import.add(domain=_ASIDE, version=1)
    try:
        converted = onnx.version_converter.convert_version(light, opset)
    except Exception as error:
        reason = str(error).rpartition(": ")[2]
        raise StageError(
            f"the exporter wrote opset {opset_of(model)}, and ONNX's converter cannot "
            f"bring it to {opset}: {reason}",
            hint="use export.exporter: torchscript, or ask for a higher opset",
        ) from error
    _put_back(converted, model)
    _drop_new_defaults(converted, opset_of(model) or opset, opset)
    return converted


def _put_back(converted: onnx.ModelProto, model: onnx.ModelProto) -> None:
    """Give `converted` the weights of `model` again, and the nodes kept from its sight."""
    heavy = [tensor for tensor in model.graph.initializer if is_external(tensor)]
    names = {tensor.name for tensor in heavy}
    fed = [value for value in converted.graph.input if value.name not in names]
    converted.graph.ClearField("input")
    converted.graph.input.extend(fed)
    converted.graph.initializer.extend(heavy)
    for node in every_node(converted):
        if node.domain == _ASIDE:
            node.domain = ""


def _drop_new_defaults(model: onnx.ModelProto, before: int, now: int) -> None:
    """Drop attributes that `now` does not know, where they only say `before`'s default.

    The converter leaves them, and the file would be invalid. One that says anything else
    stays, for ONNX's checker to refuse by name.
    """
    import onnx

    for node in every_node(model):
        if node.domain or not onnx.defs.has(node.op_type):
            continue
        known = onnx.defs.get_schema(node.op_type, now).attributes
        newer = onnx.defs.get_schema(node.op_type, before).attributes
        kept = [
            attribute
            for attribute in node.attribute
            if attribute.name in known
            or attribute.name not in newer
            or attribute != newer[attribute.name].default_value
        ]
        node.ClearField("attribute")
        node.attribute.extend(kept)


def _is_unchanged(node: onnx.NodeProto, opset: int) -> bool:
    """Return whether the node means the same, in the same words, in 18 and in `opset`.

    Identity gained optional types; Split the attribute num_outputs; Pad the input axes and
    the mode wrap. Without those they are what they were from 13 on.
    """
    if opset < _SAME_SINCE or node.domain not in DEFAULT_DOMAINS:
        return False
    said = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type == "Split":
        return "num_outputs" not in said
    if node.op_type == "Pad":
        return len(node.input) < 4 and ("mode" not in said or said["mode"].s != b"wrap")
    return node.op_type == "Identity"
