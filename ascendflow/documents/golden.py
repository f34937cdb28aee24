"""golden.json: what the trusted outputs are, and how far PyTorch and ONNX agree."""

from __future__ import annotations

from typing import Literal, TypedDict


class OutputSpec(TypedDict):
    """Dtype and shape of one output of the exported model, as it came out."""

    dtype: str
    shape: list[int]


class AgreementDocument(TypedDict):
    """How far two models' values of one output are apart, over all samples.

    `relative` is `max_absolute_error` over `range` (max - min of the golden over all
    samples; if 0, max |x|; if 0, 1). `mismatch_rate` is the part of elements that differ,
    for integer and bool outputs, and null for the others.
    """

    max_absolute_error: float
    range: float
    relative: float
    mismatch_rate: float | None


class GoldenDocument(TypedDict):
    """golden.json. `torch_onnx` is empty where the source is an ONNX file.

    `graph_optimization` is the runtime's: never on, since fusions change values, and some
    are wrong.
    """

    schema_version: Literal[1]
    runtime: Literal["onnxruntime", "onnx.reference"]
    graph_optimization: Literal["off"]
    has_torch: bool
    torch_onnx: dict[str, AgreementDocument]
    outputs: dict[str, OutputSpec]
