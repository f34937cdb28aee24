"""Runs an emulator artifact in onnxruntime, optimisation off."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ascendflow.backends.emulator import artifact
from ascendflow.errors import NotModelledError
from ascendflow.graph.files import MODEL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np


def infer(
    model: Path, feeds: Iterable[Mapping[str, np.ndarray]], *, threads: int
) -> Iterator[dict[str, np.ndarray]]:
    """Load `model` once, run it on each sample; outputs by their ONNX names, in order.

    Raises:
        NotModelledError: onnxruntime cannot run the lowered graph.
    """
    from ascendflow.graph.run import OnnxModel

    with _unpacked(model) as (_, onnx):
        runner = OnnxModel(onnx, threads=threads, weights=model)
        for sample in feeds:
            outputs = runner.run(sample)
            if runner.note is not None:
                # Another evaluator computes otherwise; that must not pass in silence.
                raise NotModelledError(f"emulator: {runner.note}, and it runs nowhere else")
            yield outputs


def dump(
    model: Path, feeds: Mapping[str, np.ndarray], *, threads: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Give every tensor that the ONNX graph has too, in graph order, in its ONNX type."""
    from ascendflow.graph.dump import every_tensor

    with _unpacked(model) as (header, onnx):
        dtypes = header["tensors"]
        for name, tensor in every_tensor(onnx, feeds, threads=threads, weights=model):
            if name in dtypes:
                # fp16 tensors are kept as fp32, holding fp16 numbers only
                yield name, tensor.astype(dtypes[name], copy=False)


@contextmanager
def _unpacked(model: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Put the graph into a file of its own for a while.

    Its weights stay where they are: a link would make them a file that changed.
    """
    header, onnx_bytes = artifact.read(model)
    with TemporaryDirectory(prefix="ascendflow-") as folder:
        onnx = Path(folder) / MODEL_FILE
        onnx.write_bytes(onnx_bytes)
        yield header, onnx
