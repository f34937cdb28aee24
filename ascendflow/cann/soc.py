"""SoCs: which family a soc_version belongs to, and how that family computes.

Sources: names are the `platform_config/*.ini` of toolkit 8.1.RC1; cube dtypes their
`Intrinsic_mmad`, fp32 functions their other intrinsics; kernels of int32 are those of
`aic-<soc>-ops-info.json`; overflow modes the runtime's `aclrtFloatOverflowMode` documents
and its `dev_info_reg.cc`, which give only 910B and later a mode switch. "Ascend910B"
without a digit is first-generation silicon (`Short_SoC_version=Ascend910`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ascendflow.atc_words import SOC_VERSIONS
from ascendflow.manifest.problems import closest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ascendflow.documents.conversion import Confidence

Family = Literal[
    "ascend310", "ascend310p", "ascend310b", "ascend910a", "ascend910b", "ascend910_93"
]
Overflow = Literal["saturate", "inf"]


@dataclass(frozen=True)
class Soc:
    """One family of SoCs, as far as arithmetic goes.

    Attributes:
        family: the name of the kernel set.
        fp32_cube: its matrix unit multiplies fp32; fp16 in with fp32 sums is everywhere.
        overflow: `saturate`: what leaves fp16's range becomes +-65504 and NaN becomes 0;
            `inf`: IEEE 754.
        overflow_confidence: how sure that is.
        rounds_half_away: the nearest-neighbour kernel rounds ties up, not to even.
        fp32_functions: its vector unit has exp, ln and rounding of fp32, not of fp16 alone.
        int32_by_fp32: Div and Mod have kernels for int32, which compute in fp32, and Cast
            one from fp32 to int32.
    """

    family: Family
    fp32_cube: bool
    overflow: Overflow
    overflow_confidence: Confidence
    rounds_half_away: bool
    fp32_functions: bool = True
    int32_by_fp32: bool = True


OVERFLOW_SOURCE = (
    "CANN runtime, aclrtFloatOverflowMode and dev_info_reg.cc: saturation is the only mode "
    "of 310P, 310B and 910A, 910B and 910_93 default to inf and NaN, 310 is not named"
)

FAMILIES = {
    soc.family: soc
    for soc in (
        Soc("ascend310", False, "saturate", "medium", False, False, False),
        Soc("ascend310p", False, "saturate", "high", False),
        Soc("ascend310b", True, "saturate", "high", True),
        Soc("ascend910a", False, "saturate", "high", False),
        Soc("ascend910b", True, "inf", "high", True),
        Soc("ascend910_93", True, "inf", "high", True),
    )
}

MODELLED: dict[str, Family] = {
    "Ascend310": "ascend310",
    **dict.fromkeys(
        ("Ascend310P1", "Ascend310P3", "Ascend310P5", "Ascend310P7"), "ascend310p"
    ),
    **dict.fromkeys(
        ("Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4"), "ascend310b"
    ),
    **dict.fromkeys(
        ("Ascend910A", "Ascend910B", "Ascend910PremiumA", "Ascend910ProA", "Ascend910ProB"),
        "ascend910a",
    ),
    **dict.fromkeys(
        (
            "Ascend910B1",
            "Ascend910B2",
            "Ascend910B2C",
            "Ascend910B3",
            "Ascend910B4",
            "Ascend910B4-1",
        ),
        "ascend910b",
    ),
    **dict.fromkeys(
        (
            "Ascend910_9362",
            "Ascend910_9372",
            "Ascend910_9381",
            "Ascend910_9382",
            "Ascend910_9391",
            "Ascend910_9392",
        ),
        "ascend910_93",
    ),
}

NAMED_ONLY = tuple(sorted(set(SOC_VERSIONS) - set(MODELLED)))
"""SoCs that ATC 8.1 knows and of which no arithmetic was read."""


def spelled(families: Iterable[Family]) -> str:
    """Name the SoCs of these families, each family by its first and last."""
    named = [[name for name in MODELLED if MODELLED[name] == each] for each in families]
    return ", ".join(n[0] if len(n) == 1 else f"{n[0]} to {n[-1]}" for n in named)


def why_not_modelled(soc_version: str) -> str | None:
    """Return why there is no model of `soc_version`, with what would do, or None."""
    if soc_version in MODELLED:
        return None
    if soc_version in NAMED_ONLY:
        return (
            f"soc_version {soc_version!r} is not modelled: its arithmetic is unknown; "
            f"modelled: {spelled(FAMILIES)}"
        )
    begun = [name for name in MODELLED if name.lower().startswith(soc_version.lower())]
    families = dict.fromkeys(MODELLED[name] for name in begun)
    hint: str | None = f"modelled: {spelled(families or FAMILIES)}"
    if len(families) == 1:
        hint = f"did you mean {' or '.join(map(repr, begun))}?"
    elif not families:
        hint = closest(soc_version, (*MODELLED, *NAMED_ONLY)) or hint
    return f"soc_version {soc_version!r} is not known; {hint}"


def soc(soc_version: str) -> Soc:
    """Return the family that `soc_version` belongs to.

    Raises:
        KeyError: it is not modelled; `why_not_modelled` says why.
    """
    return FAMILIES[MODELLED[soc_version]]
