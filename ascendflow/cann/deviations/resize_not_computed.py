"""Resize and Upsample that CANN refuses, or of which no source says what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.deviations.resize_family import OPEN, PARSER
from ascendflow.cann.resizing import read_as_cann
from ascendflow.graph.resize_node import OP_TYPES

if TYPE_CHECKING:
    import onnx_ir as ir

COMPUTED = frozenset({"linear", "nearest"})


class _NotComputed(NodeDeviation):
    """Nodes of one kind of interpolation that `read_as_cann` does not read."""

    op_types: ClassVar[frozenset[str]] = OP_TYPES
    interpolation: ClassVar[str]

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Read the node as CANN does."""
        if not self.is_about(node.attributes.get_string("mode", "nearest")):
            return Harmless("another interpolation")
        resizing = read_as_cann(node, conditions)
        return resizing if isinstance(resizing, Found) else Harmless("it is computed")

    def is_about(self, interpolation: str) -> bool:
        """Whether nodes of this mode are looked at."""
        return interpolation == self.interpolation


class ResizeCubic(_NotComputed):
    """Cubic, and what is no mode at all."""

    name: ClassVar[str] = "resize-cubic"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown")
    onnx: ClassVar[str] = (
        "cubic interpolates over four elements, by cubic_coeff_a and exclude_outside."
    )
    cann: ClassVar[str] = (
        "Up to 6.0 a parse error, which is carried on to 8.4, and of opset 10 in later "
        "versions too. From 8.5 on it goes to a pass that is not open, without either "
        "attribute."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {OPEN}"
    interpolation: ClassVar[str] = "cubic"

    def is_about(self, interpolation: str) -> bool:
        """Whether it is neither linear nor nearest."""
        return interpolation not in COMPUTED


class ResizeLinearShape(_NotComputed):
    """Linear, of another rank than 4, or along N or C, or with `axes`."""

    name: ClassVar[str] = "resize-shape"
    consequences: ClassVar[tuple[Consequence, ...]] = ("unknown",)
    onnx: ClassVar[str] = "Any axes of a tensor of any rank are resized."
    cann: ClassVar[str] = (
        "The parser takes elements 2 and 3 of the sizes for H and W of N, C, H, W, and "
        "does not read `axes`; what becomes of other nodes is not known."
    )
    cure: ClassVar[str | None] = "resize-to-matmul"
    source: ClassVar[str] = f"{PARSER}; {OPEN}"
    interpolation: ClassVar[str] = "linear"


class ResizeNearestShape(ResizeLinearShape):
    """Nearest, of another rank than 4, or along N or C, or with `axes`."""

    name: ClassVar[str] = "resize-nearest-shape"
    cure: ClassVar[str | None] = "resize-nearest-gather"
    interpolation: ClassVar[str] = "nearest"
