"""Operators without a parser."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.deviating.case import INT64, NEW, Case, Cases, one
from tests.models import F32, model, node


def loop() -> onnx.ModelProto:
    """Make y = Relu three times of x."""
    flags: list[Any] = [("i", INT64, []), ("go", TensorProto.BOOL, []), ("v", 1, [2, 4])]
    gives: list[Any] = [("on", TensorProto.BOOL, []), ("w", 1, [2, 4])]
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Relu", ["v"], ["w"])],
        "body",
        [helper.make_tensor_value_info(*each) for each in flags],
        [helper.make_tensor_value_info(*each) for each in gives],
    )
    made = node("Loop", ["n", "", "x"], ["y"], body=body)
    return model([made], [("x", [2, 4])], [("y", [2, 4])], {"n": np.array(3)})


def renamed(
    proto: onnx.ModelProto, op_type: str, domain: str = "", **attributes: Any
) -> onnx.ModelProto:
    """Give the first node another type, which onnx's checker need not like."""
    first = proto.graph.node[0]
    first.op_type, first.domain = op_type, domain
    first.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
    if domain:
        proto.opset_import.add(domain=domain, version=1)
    return proto


def normalised(
    op_type: str, bias: float = 1, *, groups: int | None = None
) -> onnx.ModelProto:
    """Make a normalisation of two channels, or of four elements."""
    size = 4 if op_type == "LayerNormalization" else 2
    constants = {"s": np.ones(size, F32), "b": np.full(size, bias, F32)}
    shape = (2, 4) if op_type == "LayerNormalization" else (2, 2, 3)
    made = one(op_type, ["x", "s", "b"], constants, x=shape, opset=18 if groups else 17)
    return renamed(made, "GroupNormalization", num_groups=groups) if groups else made


def unregistered() -> Cases:
    """Give those of operators without a parser."""
    relu = one("Relu", ["x"])
    gelu = onnx.ModelProto()
    gelu.CopyFrom(relu)
    mish = onnx.ModelProto()
    mish.CopyFrom(one("Relu", ["x"], opset=18))
    grouped = normalised("InstanceNormalization", groups=2)
    return {
        ("loop-unregistered", "Loop"): [Case(loop(), {})],
        ("layer-normalization-unregistered", "LayerNormalization"): [
            Case(normalised("LayerNormalization"), {})
        ],
        ("group-normalization-unregistered", "GroupNormalization"): [Case(grouped, NEW)],
        ("gelu-unregistered", "Gelu"): [Case(renamed(gelu, "Gelu", "com.microsoft"), {})],
        ("mish-unregistered", "Mish"): [Case(renamed(mish, "Mish"), {})],
        ("cast-like-unregistered", "CastLike"): [
            Case(one("CastLike", ["x", "like"], {"like": np.zeros(1, np.int32)}), {})
        ],
    }
