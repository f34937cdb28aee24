"""What a look at one node, or at a whole model, found."""

from __future__ import annotations

from dataclasses import dataclass

from ascendflow.documents.lint import Consequence

__all__ = ["Consequence", "Detection", "Found", "Harmless"]


@dataclass(frozen=True)
class Found:
    """A deviation applies.

    Attributes:
        reason: why, in words, with the values that matter, without the node's name.
        consequence: what comes of it under the conditions at hand.
        behaviours: with `unknown`, the two things that CANN may do, where both can be
            computed: then both are, and the worse is shown. `Conditions.alternative` is
            the index into them.
        advice: what to do about it, where that is not the deviation's own advice.
    """

    reason: str
    consequence: Consequence
    behaviours: tuple[str, ...] = ()
    advice: str | None = None


@dataclass(frozen=True)
class Harmless:
    """A deviation does not apply, and why not."""

    reason: str


Detection = Found | Harmless
