"""compare: how far the target is from its goldens. Numbers only, judged by gate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends import load_backend
from ascendflow.documents.json_file import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.stages.stage import StageContext

MOST_THREADS = 4
"""Memory is what limits the arithmetic beyond."""


class Compare:
    """Measure outputs on all samples, and every tensor inside on a few."""

    name: ClassVar[str] = "compare"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {
            "samples",
            "golden",
            "outputs",
            "simplified",
            "rewritten",
            "model",
            "conversion.json",
        }
    )
    produces: ClassVar[frozenset[str]] = frozenset({"metrics.json"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what runs the models and what computes the numbers."""
        known = ("numpy", "ml_dtypes", "onnx", "onnxruntime")
        return tuple(
            dict.fromkeys((*known, *load_backend(config["backend"]).run_with(config)))
        )

    def run(self, ctx: StageContext) -> None:
        """Write the numbers, however bad they are.

        Raises:
            StageError: goldens and outputs are not of the same samples, or a tensor inside
                the simplified model cannot be had.
        """
        from concurrent.futures import ThreadPoolExecutor

        from ascendflow.stages.comparison import compare

        # Of any number of threads the numbers are the same, so it is in no key.
        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as threads:
            document = compare(ctx, threads.map)
        write_json(ctx.outputs["metrics.json"], document)
