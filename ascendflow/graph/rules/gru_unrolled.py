"""GRU: one step after the other, in operators that mean the same everywhere.

CANN applies the reset gate after the recurrent product whatever linear_before_reset says,
and runs a lone reverse GRU forward. Unrolled nothing is left to misread. What depends on
the input alone is computed for all steps at once, as onnxruntime does; sums are added in
another order, so values agree to rounding.

Only what is known can be unrolled: the shape of X, and the weights. A sequence_lens input
makes the length depend on data. Activations other than the default, clip and layout are
left alone.

Source: ONNX operator docs, GRU-7 and later; canndev `gru_fusion_pass.cc`, 2022-06.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.graph.activations import other_activations
from ascendflow.graph.nodes import constant, static_shape
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.unrolled_gru import Shape, unroll

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect

MOST_STEPS = 256
"""A longer sequence would give thousands of nodes."""
_SEQUENCE_LENS = 4


class GruUnrolled(Rule):
    """Unroll a GRU that CANN would misread."""

    name: ClassVar[str] = "gru-unrolled"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"GRU"})
    effect: ClassVar[Effect] = "equivalent"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Replace one GRU."""
        attributes = node.attributes
        direction = attributes.get_string("direction", "forward")
        after = bool(attributes.get_int("linear_before_reset", 0))
        if after and direction != "reverse":
            yield Skipped(
                node, f"linear_before_reset is 1, direction {direction!r}: no fault"
            )
            return
        if (reason := _why_not(node)) is not None:
            yield Skipped(node, reason)
            return
        shape = static_shape(node.inputs[0])
        if shape is None or min(shape) < 1:
            yield Skipped(node, "the shape of X is not known, or it is empty")
            return
        if shape[0] > MOST_STEPS:
            yield Skipped(node, f"{shape[0]} steps are more than {MOST_STEPS}")
            return
        directions = 2 if direction == "bidirectional" else 1
        unroll(node, Shape(shape[0], shape[1], directions), reverse=direction == "reverse")
        yield Applied(
            node,
            before={"linear_before_reset": int(after), "direction": direction},
            after={"steps": shape[0], "directions": directions},
        )


def _why_not(node: ir.Node) -> str | None:
    """Return what about `node` cannot be unrolled, or None."""
    attributes, inputs = node.attributes, node.inputs
    if len(inputs) > _SEQUENCE_LENS and inputs[_SEQUENCE_LENS] is not None:
        return "it has sequence_lens, so its length depends on data"
    if "clip" in attributes:
        return "clip is set"
    if attributes.get_int("layout", 0):
        return "layout is 1"
    if names := other_activations(node):
        return f"activations are {', '.join(names)}"
    weights = [value for value in inputs[1:4] if value is not None]
    if any(constant(value) is None for value in weights):
        return "its weights are not constants"
    return None
