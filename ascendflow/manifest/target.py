"""What a model is built for, and in which precision: what every backend reads."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ascendflow import atc_words, vocabulary
from ascendflow.manifest.block import STRICT, FromList
from ascendflow.manifest.fields import (
    CannVersion,
    OneOrList,
    OrFile,
    SocVersion,
    Text,
    one_of,
)
from ascendflow.manifest.precision_keys import OF_OLD, OF_V2, canonical

Names = Annotated[tuple[Text, ...], FromList]
Dtypes = Annotated[
    tuple[Annotated[str, one_of(vocabulary.DTYPES)] | None, ...],
    FromList,
]


class MixLists(BaseModel):
    """GE operators put on another list than CANN's own."""

    model_config = STRICT

    white: Names = ()
    """May be lowered to float16."""
    gray: Names = ()
    """Follow what they read."""
    black: Names = ()
    """Keep their types."""


class CustomTypes(BaseModel):
    """Types for one node or operator, in the order of its inputs and outputs."""

    model_config = STRICT

    inputs: Dtypes = ()
    """numpy's names; null where any will do."""
    outputs: Dtypes = ()
    """numpy's names; null where any will do."""


class Target(BaseModel):
    """The target: a SoC, a CANN version and how types are chosen."""

    model_config = STRICT

    backend: Annotated[
        tuple[Annotated[str, one_of(vocabulary.BACKENDS)], ...],
        FromList,
        OneOrList(),
        Field(json_schema_extra={"default": vocabulary.BACKENDS[0]}),
    ] = vocabulary.BACKENDS[:1]
    """`emulator` needs no CANN and says so in every record; `cann` runs ATC. A list,
    `[emulator, cann]`, builds with each: the gate judges all, and the report holds what was
    predicted against what a device did (docs/hardware.md)."""
    cann: CannVersion
    """CANN version, quoted: "8.1"."""
    soc_version: SocVersion
    """As `atc --soc_version` spells it."""
    precision_mode: Annotated[str, one_of(atc_words.PRECISION_MODES, OF_V2)] = (
        atc_words.FORCE_FP16
    )
    """As `atc --precision_mode` spells it."""
    precision_mode_v2: (
        Annotated[str, one_of(atc_words.PRECISION_MODES_V2, OF_OLD)] | None
    ) = None
    """As `atc --precision_mode_v2` spells it, in place of `precision_mode`."""
    keep_dtype: Annotated[Names, OrFile()] = ()
    """Nodes, by name or as `OpType::Relu` by GE operator, that keep the model's types."""
    modify_mixlist: Annotated[MixLists | None, OrFile()] = None
    """Changes to CANN's lists for mixed precision."""
    customize_dtypes: Annotated[dict[str, CustomTypes], OrFile()] = {}
    """Node's name, or `OpType::Relu` -> its types; goes before `keep_dtype`."""
    op_select_implmode: Annotated[str, one_of(atc_words.IMPLEMENTATION_MODES)] | None = None
    """Which implementation operators use that have two; absent: high_performance."""
    optypelist_for_implmode: Names = ()
    """GE operators that alone follow `op_select_implmode`."""
    is_weight_clip: bool | None = None
    """Clip constants to float16's range before they become float16, instead of making inf
    of them; absent: as ATC does, which clips since 8.5."""

    @property
    def precision(self) -> str:
        """The precision mode, in the spelling that is kept of equal ones."""
        return canonical(self.precision_mode_v2 or self.precision_mode)
