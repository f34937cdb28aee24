"""Brings a model to another opset with ONNX's version converter, weights left out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import is_external
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.structure import read_structure
from ascendflow.graph.traverse import every_node
from ascendflow.graph.validity import without_weights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    import onnx

_ASIDE = "ascendflow.unchanged"
"""A domain the converter passes over."""
_SAME_SINCE = 13
_NUM_OUTPUTS_SINCE = 18


def convert_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return `model` written in `opset`.

    ONNX's converter knows nothing of external data, so such tensors go in as inputs and
    come back as they were. It lacks adapters for some nodes that are spelled the same in
    both opsets; those are kept from its sight. It is not to be trusted with values (its
    Resize from opset 10 to 11 drops what keeps them), so whoever calls this must call
    `hold_to_original` with what was written.

    Args:
        model: left as it is.
        opset: version of ONNX's own operators.

    Raises:
        StageError: the converter has no way there.
    """
    import onnx

    light = without_weights(model)
    _split_equally(light, opset)
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
            hint=f"use export.exporter: torchscript, or ask for {_enough(light, opset)}",
        ) from error
    _put_back(converted, model)
    _drop_new_defaults(converted, opset_of(model) or opset, opset)
    return converted


def hold_to_original(original: Path, moved: Path, feeds: Mapping[str, np.ndarray]) -> None:
    """Run a model in its old and in its new opset, and refuse other values.

    Args:
        original: the ONNX file as it was.
        moved: what became of it.
        feeds: one example of each input.

    Raises:
        StageError: an output is further from the original than rounding explains.
    """
    from ascendflow.graph.promise import Difference
    from ascendflow.graph.run import OnnxModel

    before, after = OnnxModel(original).run(feeds), OnnxModel(moved).run(feeds)
    problems = []
    for name, tensor in before.items():
        difference = Difference()
        difference.add("example", tensor, after[name])
        if (why := difference.why_broken("equivalent")) is not None:
            problems.append(f"output {name!r}: {why}")
    if problems:
        was, now = (opset_of(read_structure(path).model) for path in (original, moved))
        raise StageError(
            f"ONNX's converter brought the model from opset {was} to {now} and changed "
            f"what it computes: {'; '.join(problems)}",
            hint="use export.exporter: torchscript, or ask for another opset",
        )


def _enough(model: onnx.ModelProto, opset: int) -> str:
    """Say which opset has every operator of `model`, where `opset` has not."""
    import onnx

    first: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            known = first.get(schema.name, schema.since_version)
            first[schema.name] = min(known, schema.since_version)
    newer = {
        node.op_type: since
        for node in every_node(model)
        if node.domain in DEFAULT_DOMAINS and (since := first.get(node.op_type, 0)) > opset
    }
    if not newer:
        return "a higher opset"
    return f"opset {max(newer.values())}, the first with {', '.join(sorted(newer))}"


def _split_equally(model: onnx.ModelProto, opset: int) -> None:
    """Leave `num_outputs` out where parts are declared equal, as they are by default then.

    torch writes it for equal parts only, and declares every shape.
    """
    if not _SAME_SINCE <= opset < _NUM_OUTPUTS_SINCE:
        return
    shapes = {
        value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in (*model.graph.value_info, *model.graph.output)
    }
    for node in model.graph.node:
        parts = [shapes.get(name) for name in node.output]
        if node.op_type == "Split" and parts[0] and parts.count(parts[0]) == len(parts):
            kept = [each for each in node.attribute if each.name != "num_outputs"]
            node.ClearField("attribute")
            node.attribute.extend(kept)


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
