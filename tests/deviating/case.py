"""What each model is: one node, and the target that computes it otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto

from tests.models import Shape, model, node

if TYPE_CHECKING:
    from collections.abc import Sequence

INT64 = TensorProto.INT64
NEW = {"cann": "8.5"}
OLD = {"cann": "6.0"}
ON_310 = {"soc_version": "Ascend310"}


class Case(NamedTuple):
    """A model of which lint finds one deviation on one target."""

    proto: onnx.ModelProto
    config: dict[str, Any]


Cases = dict[tuple[str, str], list[Case]]
"""(deviation, operator type) -> models; "" where the whole model is to blame."""


def one(
    op_type: str,
    inputs: Sequence[str],
    constants: dict[str, Any] | None = None,
    *,
    x: Shape = (2, 4),
    kind: int = TensorProto.FLOAT,
    opset: int = 17,
    behind: Sequence[onnx.NodeProto] = (),
    **attributes: Any,
) -> onnx.ModelProto:
    """Make one node of x and constants; y, of the rank that is inferred, is the output.

    Args:
        op_type: of the node, which gives `y`, or `n` where others come behind it.
        inputs: its inputs.
        constants: by name.
        x: shape of the input.
        kind: element type of the input.
        opset: of the model.
        behind: what reads `n` and gives `y`.
        attributes: of the node.
    """
    given = {name: np.asarray(array) for name, array in (constants or {}).items()}
    made = node(op_type, inputs, ["n" if behind else "y"], name="n", **attributes)
    proto = model([made, *behind], [("x", x, kind)], [("y", [])], given, opset)
    proto.graph.output[0].ClearField("type")
    inferred = onnx.shape_inference.infer_shapes(proto)
    proto.graph.output[0].CopyFrom(inferred.graph.output[0])
    return proto
