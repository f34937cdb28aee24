"""Which nodes compute what a source says, and which are taken to equal ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import NodeDeviation
from ascendflow.graph.matrices import MATRIX_PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding

SOURCED = frozenset(MATRIX_PRODUCTS | {"Cast"}).union(
    *(d.op_types for d in DEVIATIONS if isinstance(d, NodeDeviation) and d.models_kernel)
)
"""Operators whose kernels were read as a whole: each of their nodes is modelled."""


def modelled(graph: ir.Graph, findings: Iterable[Finding]) -> set[ir.Node]:
    """Return the nodes of `graph` whose kernel's behaviour comes from a source.

    Of other operators those are in which a deviation was found that edits the kernel; one
    that names a type for the sake of rare nodes says nothing of the rest.
    """
    edited = {finding.node for finding in findings if _edits(finding)}
    return {node for node in graph if node.op_type in SOURCED or node in edited}


def _edits(finding: Finding) -> bool:
    deviation = finding.deviation
    return (
        isinstance(deviation, NodeDeviation)
        and type(deviation).emulate is not NodeDeviation.emulate
    )
