"""Makes the context that a stage sees, from a folder and what the test puts there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import TensorWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.backend import Backend
    from ascendflow.stages.stage import Stage


def context(
    stage: type[Stage],
    root: Path,
    config: Mapping[str, Any],
    backend: Backend | None = None,
) -> StageContext:
    """Put inputs at root/<role> and outputs at root/out/<role>."""
    (root / "out").mkdir()
    return StageContext(
        config=config,
        inputs={role: root / role for role in stage.consumes},
        files={},
        outputs={role: root / "out" / role for role in stage.produces},
        folder=root,
        backend=backend,
        seed=0,
        findings=Findings(),
    )


def write_set(folder: Path, samples: Sequence[Mapping[str, np.ndarray]]) -> None:
    """Write a tensor set whose ids are "0", "1", ..."""
    with TensorWriter(folder) as writer:
        for number, tensors in enumerate(samples):
            writer.write(str(number), tensors)
