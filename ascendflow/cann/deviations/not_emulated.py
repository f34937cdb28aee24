"""What the emulator computes nothing of, judged by a node's operator and its types.

Nothing was read of what CANN does with float64, bfloat16 and narrower types, with sequences
and optionals, and with random numbers. Floating tensors inside the bodies of If, Loop and
Scan, CastLike of floating tensors, and opset 8 are left out because the emulator cannot
spell what is known of them, and some operators of some integer types because onnxruntime,
which computes for it, has no kernel for them (Max of int16). So no number is given:
`convert` refuses such a model, and whatever CANN makes of it has to be seen on a device.

Of other domains and of operators without a parser, other deviations say that CANN refuses
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, Confidences, ModelDeviation
from ascendflow.cann.deviations.onehot_wrap import OneHotWrap
from ascendflow.cann.deviations.op_unregistered import unregistered
from ascendflow.cann.types import floating
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.kernel_lookup import KernelLookup
from ascendflow.graph.nodes import bodies_of, model_opset
from ascendflow.graph.operators import DEFAULT_DOMAINS, RANDOM_OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_OPSET = 9
"""Before it no operator tells NaN, so that saturation cannot be spelled."""

_UNDRAWN = "take the random part out, or make what it draws an input of the model"

_IN_OTHER_TYPES = {"OneHot": OneHotWrap()}
"""Operators that are computed in types of their own where the deviation is found."""

_PLAIN = FLOATS | {
    ir.DataType.BOOL,
    ir.DataType.INT8,
    ir.DataType.INT16,
    ir.DataType.INT32,
    ir.DataType.INT64,
    ir.DataType.UINT8,
    ir.DataType.UINT16,
    ir.DataType.UINT32,
    ir.DataType.UINT64,
}


class NotEmulated(ModelDeviation):
    """A node, or a whole model, that the emulator does not compute."""

    name: ClassVar[str] = "not-emulated"
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    is_emulated: ClassVar[bool] = False
    onnx: ClassVar[str] = (
        "Tensors may be float64, bfloat16, sequences or optionals; bodies and random "
        "operators compute as any node does."
    )
    cann: ClassVar[str] = (
        "What it makes of these types and of random operators was not read; floating "
        "tensors inside of bodies, opset 8, and what onnxruntime has no kernel for, are "
        "beyond the emulator. It gives no number."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "compute in float32, float16 or int32, and outside of If, Loop and Scan"
    )
    source: ClassVar[str] = "none: what CANN does with such nodes was not read"
    confidences: ClassVar[Confidences] = Confidences("low", "low", "low")
    """Nothing is claimed of CANN."""

    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Ask for the opset, then for each node."""
        opset = model_opset(model)
        if opset is not None and conditions.profile.opsets[0] <= opset < FIRST_OPSET:
            reason = f"the emulator does not compute opset {opset}, only {FIRST_OPSET} on"
            advice = f"export the model again, in opset {FIRST_OPSET} or above"
            yield None, Found(reason, "unknown", advice=advice)
        kernels = KernelLookup()
        for node in model.graph.all_nodes():
            found = unregistered(node, model, conditions)
            if found is not None and found.consequence == "rejected":
                continue
            # A tensor is read twice.
            what = list(dict.fromkeys(_beyond(node)))
            is_onnx = node.domain in DEFAULT_DOMAINS
            if not what and is_onnx and not _is_run(node, kernels, conditions):
                what = [f"onnxruntime has no kernel for {node.op_type} {_types(node)}"]
            if what:
                reason = f"{', '.join(what)}, which the emulator does not compute"
                draws = node.op_type in RANDOM_OPERATORS
                yield node, Found(reason, "unknown", advice=_UNDRAWN if draws else None)


def _is_run(node: ir.Node, kernels: KernelLookup, conditions: Conditions) -> bool:
    """Whether onnxruntime runs the node, or what an emulation puts in its place."""
    other = _IN_OTHER_TYPES.get(node.op_type)
    if other is not None and isinstance(other.detect(node, conditions), Found):
        return True
    return kernels.has_kernel(node)


def _beyond(node: ir.Node) -> Iterator[str]:
    if node.op_type in RANDOM_OPERATORS:
        yield "it gives random numbers"
        return
    for value in (*node.inputs, *node.outputs):
        if value is not None and (value.name or value.uses()):
            yield from _beyond_by_type(value, node)
    halves = [v for v in node.outputs if v.dtype == ir.DataType.FLOAT16]
    if halves and "dtype" in node.attributes:
        yield "its attribute dtype asks for float16"
    if node.op_type == "CastLike" and _handles_floats(node):
        yield "CastLike of floating tensors (spell it Cast)"
    bodies = [
        str(body.name)
        for body in bodies_of(node)
        if any(_handles_floats(inner) for inner in body.all_nodes())
    ]
    if bodies:
        yield f"floating tensors inside {', '.join(bodies)}"


def _types(node: ir.Node) -> str:
    """Say what a node takes and gives, for want of which nothing runs it."""
    given = (
        _spell(value.dtype)
        for value in (*node.inputs, *node.outputs)
        if value is not None and value.dtype is not None
    )
    types = ", ".join(dict.fromkeys(given))
    return f"of {types} in opset {node.version}"


def _beyond_by_type(value: ir.Value, node: ir.Node) -> Iterator[str]:
    where = f"tensor {value.name!r} is"
    if value.type is None:
        if _loses_type(value, node):
            yield f"{where} of unknown type"
    elif not isinstance(value.type, ir.TensorType):
        yield f"{where} of {value.type}"
    elif value.dtype not in _PLAIN:
        yield f"{where} {_spell(value.dtype)}"


def _loses_type(value: ir.Value, node: ir.Node) -> bool:
    """Whether types end at `node`, so that not each node behind is told of.

    What makes an untyped tensor has an untyped input itself, or is told of here, or has no
    parser, so that CANN refuses it.
    """
    maker = value.producer()
    if maker is None:
        return True
    return maker is node and all(v is None or v.type is not None for v in node.inputs)


def _handles_floats(node: ir.Node) -> bool:
    return any(True for _ in floating(node))


def _spell(dtype: ir.DataType | None) -> str:
    names = {"DOUBLE": "float64"}
    name = "unknown" if dtype is None else dtype.name
    return names.get(name, name.lower())
