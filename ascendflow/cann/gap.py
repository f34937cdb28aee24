"""Why a node cannot be lowered to what CANN would run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """A reason, in words, without the node's name.

    Attributes:
        reason: what stands in the way.
        refused: CANN itself would refuse the model; otherwise nothing is known of what it
            would do.
    """

    reason: str
    refused: bool = False
