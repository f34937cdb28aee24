"""What convert made, and how much of it is known."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Confidence = Literal["high", "medium", "low"]


class AppliedDeviation(TypedDict):
    """One deviation from ONNX that the emulation computes.

    `nodes` are the nodes whose values it changes, by their ONNX names; an empty list
    means that it holds for the whole graph. `rule` cures it, where one does. `behaviours`
    is there only where no source says which of the two CANN has; then both are computed.
    """

    deviation: str
    nodes: list[str]
    rule: str | None
    confidence: Confidence
    source: str
    behaviours: NotRequired[list[str]]


class Toolchain(TypedDict):
    """What made the model, where a real toolchain did.

    `versions` are those of the toolkit's packages; `arguments` are ATC's own.
    """

    versions: dict[str, str]
    python: str
    numpy: str
    arguments: list[str]


class MadeOm(TypedDict):
    """The OM, and what it says of itself; null where it does not say.

    `normalised_sha256` leaves out what differs from build to build (docs/inspect.md).
    """

    file: str
    sha256: str
    normalised_sha256: str
    atc_version: str | None
    opp_version: str | None
    soc_version: str | None
    atc_cmdline: str | None


class Conversion(TypedDict):
    """`conversion.json`.

    `keepable` are the nodes, by their ONNX names, that `keep_dtype` would run in other
    types than they have; it is not there for a real device.

    For a real device `overflow`, `modelled_nodes`, `assumed` and `applied` say nothing:
    they are null, 0 and empty.
    """

    schema_version: Literal[1]
    backend: str
    is_real_device: bool
    cann: str
    soc_version: str
    precision_mode: str
    overflow: Literal["saturate", "inf"] | None
    modelled_nodes: int
    assumed: dict[str, int]
    applied: list[AppliedDeviation]
    target_ops: dict[str, str | None]
    keepable: NotRequired[list[str]]
    om: NotRequired[MadeOm]
    toolchain: NotRequired[Toolchain]
