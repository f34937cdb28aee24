"""What the user's own end metric says of each model, on the same samples."""

from __future__ import annotations

from typing import Literal, TypedDict


class Evaluation(TypedDict):
    """`evaluation.json`.

    All null where the manifest names no metric; `torch` is null where there is no PyTorch
    model. Values are finite: anything else is refused.
    """

    schema_version: Literal[1]
    metric: str | None
    direction: Literal["higher", "lower"] | None
    torch: float | None
    onnx: float | None
    target: float | None
