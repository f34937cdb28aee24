"""What holds for every node of a graph: how types are chosen, and what overflow does.

Conversions, verdicts and reports name it beside the deviations; lint does not, since no
node is to blame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ascendflow.atc_words import FORCE_FP16
from ascendflow.cann import precision, soc

if TYPE_CHECKING:
    from ascendflow.cann.target import Target
    from ascendflow.documents.conversion import AppliedDeviation, Confidence

CAST_FUSION = "cube-cast-fusion"
CAST_FUSION_SOURCE = (
    "canndev MatmulCastFusionPass; CANN 8.1.RC1 fusion_config.json ConvCastFusionPass"
)


class Named(NamedTuple):
    """One name that a report may give as a cause.

    Attributes:
        name: as it stands there.
        meaning: what the target does.
        source: where it was read.
    """

    name: str
    meaning: str
    source: str


def _mode_name(mode: str) -> str:
    """Name the choice of types in a precision mode."""
    return f"precision-{mode}"


def _overflow_name(overflow: soc.Overflow) -> str:
    """Name what a SoC does beyond float16's range."""
    return f"overflow-{overflow}"


NAMES: tuple[Named, ...] = (
    *(
        Named(
            _mode_name(mode),
            f"Each node runs in the types that {mode} chooses for it; what it is given is "
            "rounded to them. `ascendflow precision` lists them.",
            precision.SOURCE,
        )
        for mode in precision.MODELLED
    ),
    Named(
        _overflow_name("saturate"),
        "What leaves float16's range becomes +-65504, and NaN becomes 0.",
        soc.OVERFLOW_SOURCE,
    ),
    Named(
        _overflow_name("inf"),
        "What leaves float16's range becomes +-inf, as in IEEE 754.",
        soc.OVERFLOW_SOURCE,
    ),
    Named(
        CAST_FUSION,
        "Conv and MatMul that only Casts to float32 read give float32 themselves.",
        CAST_FUSION_SOURCE,
    ),
)


def applied(target: Target) -> list[AppliedDeviation]:
    """List what holds for every node on `target`."""
    mode = target.settings.mode
    # Where types differ, some columns are assumed; and an fp32 convolution may run in HF32,
    # which is not modelled.
    known: dict[str, Confidence] = {FORCE_FP16: "high"}
    known |= dict.fromkeys((precision.MIX, precision.ALLOW), "medium")
    return [
        _entry(_mode_name(mode), known.get(mode, "low"), precision.SOURCE),
        _entry(
            _overflow_name(target.soc.overflow),
            target.soc.overflow_confidence,
            soc.OVERFLOW_SOURCE,
        ),
    ]


def _entry(name: str, confidence: Confidence, source: str) -> AppliedDeviation:
    return {
        "deviation": name,
        "nodes": [],
        "rule": None,
        "confidence": confidence,
        "source": source,
    }
