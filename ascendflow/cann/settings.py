"""What a manifest's `convert` block says of precision, beside the CANN version and SoC.

Meanings are those of ATC's documents (GE `--keep_dtype.md`, `--modify_mixlist.md`,
`--customize_dtypes.md`, `--op_select_implmode.md`, `--optypelist_for_implmode.md`,
`--is_weight_clip.md`); the files that ATC takes are keys of the manifest here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ascendflow.atc_words import FORCE_FP16
from ascendflow.manifest.precision_keys import canonical, refused_together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.cann.kernels import Mix

OP_TYPE = "OpType::"
"""Put before a GE operator where a node's name could stand."""

Implementation = Literal["high_performance", "high_precision"]

_BY_DEFAULT: dict[str, Implementation] = {
    "Gelu": "high_precision",
    "ReduceMean": "high_performance",
    "Sigmoid": "high_precision",
    "Tanh": "high_precision",
}
"""Of 8.1.RC1 `impl_mode/high_performance.ini`, which is the default; high_precision.ini and
the lists of `*_for_all` name the same operators, each as it is called. ReduceMeanD is in
none, and its kernel's own default is high_performance (`dynamic/reduce_mean_d.py`)."""


@dataclass(frozen=True)
class CustomTypes:
    """Types that the user asks for; None where a tensor may have any."""

    inputs: tuple[str | None, ...] = ()
    outputs: tuple[str | None, ...] = ()

    def __str__(self) -> str:
        """Spell them as ATC's file does."""
        inputs, outputs = (
            ",".join(str(each) for each in types) or "any"
            for types in (self.inputs, self.outputs)
        )
        return f"{inputs} -> {outputs}"


@dataclass(frozen=True)
class Settings:
    """How types and implementations are chosen.

    Attributes:
        mode: the precision mode, in the spelling that is kept of equal ones.
        keep_dtype: nodes' names, or `OpType::` and a GE operator, that keep their types.
        mixlist: GE operator -> the list that it is put on.
        customize_dtypes: as `keep_dtype` -> types of inputs and outputs.
        implmode: `op_select_implmode`, or None for the default.
        implmode_types: GE operators that alone follow `implmode`; empty: all in its list.
        clips_weights: `is_weight_clip`: fp32 constants are clipped before they become fp16;
            None for the version's default.
    """

    mode: str = FORCE_FP16
    keep_dtype: tuple[str, ...] = ()
    mixlist: Mapping[str, Mix] = field(default_factory=dict)
    customize_dtypes: Mapping[str, CustomTypes] = field(default_factory=dict)
    implmode: str | None = None
    implmode_types: tuple[str, ...] = ()
    clips_weights: bool | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Settings:
        """Read a `convert` block; only `precision_mode` must be there."""
        lists = config.get("modify_mixlist") or {}
        mixes: dict[str, Mix] = {"white": "white", "gray": "gray", "black": "black"}
        custom = config.get("customize_dtypes") or {}
        return cls(
            mode=canonical(config["precision_mode"]),
            keep_dtype=tuple(config.get("keep_dtype") or ()),
            mixlist={op: mixes[mix] for mix in lists for op in lists[mix] or ()},
            customize_dtypes={
                subject: CustomTypes(
                    tuple(types.get("inputs") or ()), tuple(types.get("outputs") or ())
                )
                for subject, types in custom.items()
            },
            implmode=config.get("op_select_implmode"),
            implmode_types=tuple(config.get("optypelist_for_implmode") or ()),
            clips_weights=config.get("is_weight_clip"),
        )

    def implementation(self, operator: str) -> Implementation:
        """Return which of its two implementations an operator uses.

        Plain high_performance leaves Gelu, Sigmoid and Tanh at high_precision, as its list
        says so; what `implmode_types` names, and `*_for_all`, does not.
        """
        default = _BY_DEFAULT.get(operator, "high_performance")
        if self.implmode is None:
            return default
        if self.implmode_types:
            is_meant = operator in self.implmode_types
        else:
            is_meant = operator in _BY_DEFAULT and self.implmode != "high_performance"
        if not is_meant:
            return default
        precise = self.implmode.startswith("high_precision")
        return "high_precision" if precise else "high_performance"


def why_refused(config: Mapping[str, Any]) -> str | None:
    """Return why ATC refuses these settings together, or None.

    Sources: GE documents of the options (related parameters); E10001 of ATC's checks.
    """
    given = {key: value for key, value in config.items() if value is not None}
    problem = next(refused_together(given), None)
    return None if problem is None else f"{problem.keys[1]} {problem.text}"
