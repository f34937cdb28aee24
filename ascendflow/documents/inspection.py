"""inspection.json: what `ascendflow inspect` reads from one file."""

from __future__ import annotations

from typing import Literal, TypedDict


class Withheld(TypedDict):
    """A value that is not shown: bytes, a tensor, a graph, or a long list.

    `count` is the list's items, `size` its bytes in the file, `sha256` their digest.
    """

    type: str
    count: int | None
    size: int
    sha256: str


AttributeItem = str | int | float | bool
AttributeValue = AttributeItem | list[AttributeItem] | Withheld | None


class InspectedTensor(TypedDict):
    """An input or an output.

    A dimension that is not fixed is -1 in an OM, its name or null in an ONNX file; `shape`
    is null where not even the rank is known. `ranges` are [least, most] of each dimension.
    `aipp_shape` is what the graph sees where static AIPP makes that another. `size` is in
    bytes: what the file says, of the largest gear, else what shape and type make; null
    where that is open.
    """

    name: str
    dtype: str
    shape: list[int | str | None] | None
    format: str | None
    size: int | None
    ranges: list[list[int]]
    aipp_shape: list[int] | None


class OmHeader(TypedDict):
    """The header, by GE's own names; `wide` is whether sizes in tables have 64 bits."""

    version: str
    model_type: str
    model_type_number: int
    model_num: int
    wide: bool
    name: str
    checksum: str | None
    is_checksum: int
    genmode: int
    ops: int
    userdefineinfo: str
    om_ir_version: int
    platform_version: str
    platform_type: int
    need_check_os_cpu_info: int
    is_unknow_model: int
    reserved: str | None


class OmPartition(TypedDict):
    """A partition; `offset` counts from the file's first byte."""

    type: str
    offset: int
    size: int


class OmGraph(TypedDict):
    """A graph: how often each operator of the target stands in it."""

    name: str
    operators: dict[str, int]


class OmModel(TypedDict):
    """One table of partitions, and what its MODEL_DEF says."""

    table_offset: int
    table_size: int
    padding: int
    partitions: list[OmPartition]
    name: str
    version: int
    custom_version: str
    attributes: dict[str, AttributeValue]
    graphs: list[OmGraph]


class OmSubmodel(TypedDict):
    """An OM inside a partition of a flow model or a bundle."""

    name: str
    type: str
    offset: int
    size: int
    header: OmHeader
    models: list[OmModel]


class OmGears(TypedDict):
    """The sizes that a model was built for: of `batch`, `image` (H, W) or `dims`.

    `order` names the inputs in the order in which `dims` were given.
    """

    kind: Literal["batch", "image", "dims"]
    values: list[list[int]]
    order: list[str]


class OmContents(TypedDict):
    """An OM file; what it does not say is null.

    `memory` has sizes in bytes, as far as they are given.
    """

    header: OmHeader
    atc_command_line: str | None
    atc_version: str | None
    opp_version: str | None
    soc_version: str | None
    framework: str | None
    gears: OmGears | None
    memory: dict[str, int]
    models: list[OmModel]
    submodels: list[OmSubmodel]


class OnnxContents(TypedDict):
    """An ONNX file; `operators` counts nodes, those of sub-graphs and functions too.

    `initializer_bytes` is what weights take, `constants` are the tensors that nodes hold;
    `external_bytes`, how much of both lies in the files of `external_files`.
    """

    ir_version: int
    producer: str
    opsets: dict[str, int]
    functions: int
    initializers: int
    initializer_bytes: int
    constants: int
    constant_bytes: int
    external_bytes: int
    external_files: list[str]
    operators: dict[str, int]


class EmulatedContents(TypedDict):
    """An emulator's artifact: no device can load it. `graph` is what it computes, as ONNX.

    `alternative` is whether a second artifact beside it has the other thing that CANN may
    do; `behaviour` then names this one's.
    `weights_bytes` is what the file of weights beside it has; 0 where there is none.
    """

    emulator: int
    cann: str
    soc_version: str
    precision_mode: str
    behaviour: str | None
    alternative: bool
    weights_bytes: int
    graph: OnnxContents


class Inspection(TypedDict):
    """One file. Exactly one of `om`, `onnx` and `emulated` is not null.

    `sha256` is of its bytes; `normalised_sha256`, of OM files only, leaves out what differs
    from build to build (docs/inspect.md). Both are null where they were not asked for.
    """

    schema_version: Literal[1]
    kind: Literal["om", "onnx", "emulated"]
    file: str
    size: int
    sha256: str | None
    normalised_sha256: str | None
    inputs: list[InspectedTensor]
    outputs: list[InspectedTensor]
    om: OmContents | None
    onnx: OnnxContents | None
    emulated: EmulatedContents | None
