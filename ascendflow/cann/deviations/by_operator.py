"""Which deviations a node of an operator is asked by, so that no other is."""

from __future__ import annotations

from functools import cache

from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.deviation import LookedUpDeviation, NodeDeviation


@cache
def node_deviations(op_type: str) -> tuple[NodeDeviation, ...]:
    """Return those that ask nodes of one of ONNX's own operators, in order."""
    return tuple(
        each
        for each in DEVIATIONS
        if isinstance(each, NodeDeviation) and op_type in each.op_types
    )


@cache
def looked_up_deviation(op_type: str) -> LookedUpDeviation:
    """Return the one that answers for nodes of an operator, of any domain."""
    known = [each for each in DEVIATIONS if isinstance(each, LookedUpDeviation)]
    own = (each for each in known if each.op_types and op_type in each.op_types)
    rest = (each for each in known if each.op_types is None)
    return next(own, None) or next(rest)
