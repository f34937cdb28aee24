"""What the deviations of Resize and Upsample have in common.

The parser was read in source up to 6.0; later it is a binary, or incomplete.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.cann.deviations.resize_lowering import lower
from ascendflow.cann.resizing import read_as_cann
from ascendflow.graph.resize_node import OP_TYPES

if TYPE_CHECKING:
    import onnx_ir as ir

    from ascendflow.cann.resizing import Resizing

PARSER = "canndev resize_plugin.cc 2021-07 to 2022-06"
KERNELS = "CANN 8.1.RC1 resize_bilinear_v2.py, resize_nearest_neighbor_v2.py, image_ops.h"
OPEN = "ops-nn resize_onnx_plugin.cpp 8.5.0 to 9.1.0"


class ResizeDeviation(NodeDeviation):
    """A deviation of nodes that CANN resizes; all of them are lowered alike."""

    op_types: ClassVar[frozenset[str]] = OP_TYPES
    models_kernel: ClassVar[bool] = True

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Read the node as CANN does, and compare."""
        resizing = read_as_cann(node, conditions)
        if isinstance(resizing, Found):
            return Harmless(f"it is not computed: {resizing.reason}")
        return self.judge(resizing, conditions)

    @abstractmethod
    def judge(self, resizing: Resizing, conditions: Conditions) -> Detection:
        """Say whether CANN deviates on a node that it resizes."""

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Compute all that CANN does otherwise, whichever deviation it is."""
        lower(node, conditions)
