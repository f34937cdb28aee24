"""Where runtimes disagree about empty inputs, ONNX's reference evaluator decides.

Older onnxruntimes give a Reshape with `allowzero` other shapes once a length is 0. Only an
empty input asks for a second opinion: little is computed then. An output may be empty
after much work, e.g. where nothing was detected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np


def why_disputed(
    path: Path, feeds: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
) -> str | None:
    """Return how the reference evaluator disagrees where an input is empty, or None.

    Args:
        path: the ONNX file.
        feeds: one sample.
        outputs: what another runtime made of it, in the model's order.
    """
    if all(array.size for array in feeds.values()):
        return None
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    try:
        found = ReferenceEvaluator(str(path)).run(None, dict(feeds))
    except Exception:  # noqa: BLE001 - it lacks an operator: it has no say then
        return None
    for (name, array), other in zip(outputs.items(), map(np.asarray, found), strict=True):
        if (array.dtype, array.shape) != (other.dtype, other.shape):
            return (
                f"output {name!r} is {array.dtype.name} {list(array.shape)} in onnxruntime "
                f"and {other.dtype.name} {list(other.shape)} in ONNX's reference evaluator"
            )
    return None
