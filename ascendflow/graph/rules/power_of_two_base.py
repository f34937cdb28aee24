"""What the rules that scale by a power of two have in common: no rule itself.

Such a scale changes exponents only, so fp32 results keep their bits.
"""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ascendflow.errors import StageError
from ascendflow.graph.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.documents.rewrite_log import Effect


class ScalingRule(Rule):
    """A rule with the argument `scale`.

    Attributes:
        advice: which scale to take.
    """

    effect: ClassVar[Effect] = "exact"
    arguments: ClassVar[frozenset[str]] = frozenset({"scale"})
    advice: ClassVar[str]

    def __init__(self, scale: int | None = None) -> None:
        self._scale = scale

    def configured(self, arguments: Mapping[str, Any]) -> Self:
        """Return the rule with its scale.

        Raises:
            StageError: no scale, or one that is no power of two above 1.
        """
        super().configured(arguments)
        scale: int = arguments["scale"]
        if scale < 2 or frexp(scale)[0] != 0.5:
            raise StageError(
                f"rewrite: rule {self.name!r}: {scale} is not a power of two above 1",
                hint=self.advice,
            )
        return type(self)(scale)
