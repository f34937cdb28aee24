"""Every tensor of a run, without holding them all.

Marking every tensor as an output keeps them all in memory until the run ends. Here the
graph runs in segments of a few nodes, each a small model of its own, and a tensor is let
go as soon as nothing later reads it. The values are those of a marked whole run, bit for
bit: the kernels are the same, and optimisation is off in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.outline import label, read_by
from ascendflow.graph.segment import SegmentMaker, run_in_onnxruntime, run_in_reference
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy as np

SEGMENT_NODES = 4


def every_tensor(
    path: Path,
    feeds: Mapping[str, np.ndarray],
    *,
    threads: int,
    weights: Path | None = None,
    segment_nodes: int = SEGMENT_NODES,
) -> Iterator[tuple[str, np.ndarray]]:
    """Run an ONNX model once and yield every numeric node output, in graph order.

    Sequences, optionals and strings are not yielded, nor what lies in the bodies of If,
    Loop and Scan. Where onnxruntime cannot load or run a segment, a longer one is tried
    (what a node needs may be made further up or down), then onnx's reference evaluator.

    Args:
        path: the ONNX file.
        feeds: one sample; dtypes and shapes as the model wants them.
        threads: of onnxruntime, within one operator.
        weights: the folder of its external data; absent: its own.
        segment_nodes: how many nodes run at a time. More cost memory, fewer cost time.

    Yields:
        Tensor name and array. Memory holds one segment's tensors and those that later
        segments read.

    Raises:
        StageError: a segment runs in neither; the message names its first node.
    """
    import numpy as np

    known = {name: np.asarray(array, order="C") for name, array in feeds.items()}
    run = _Run(path, threads, weights or path.parent)
    known = {name: array for name, array in known.items() if name in run.last_read}
    start = 0
    while start < len(run.nodes):
        stop, values = run.segment(start, segment_nodes, known)
        for name in run.last_reads(start, stop):
            known.pop(name, None)
        for name in (name for node in run.nodes[start:stop] for name in node.output):
            if (array := values.pop(name, None)) is None:
                continue
            if run.last_read.get(name, -1) >= stop:
                known[name] = array
            if array.dtype.kind not in "OSU":
                yield name, array
            del array
        start = stop


class _Run:
    """One model, cut as it goes."""

    def __init__(self, path: Path, threads: int, weights: Path) -> None:
        structure = read_structure(path)
        self.nodes = list(structure.model.graph.node)
        self._maker = SegmentMaker(structure)
        self._path, self._threads, self._weights = path, threads, weights
        self.last_read: dict[str, int] = {}
        for index, node in enumerate(self.nodes):
            self.last_read.update(dict.fromkeys(read_by(node), index))
        for name in self._maker.constants:
            self.last_read.pop(name, None)

    def last_reads(self, start: int, stop: int) -> Iterator[str]:
        """Name what the nodes of a segment read, and none behind it does."""
        for node in self.nodes[start:stop]:
            for name in read_by(node):
                if self.last_read.get(name, -1) < stop:
                    yield name

    def segment(
        self, start: int, length: int, known: Mapping[str, np.ndarray]
    ) -> tuple[int, dict[str, np.ndarray]]:
        """Run the nodes from `start` on; return where it stopped, and their tensors."""
        first_stop = min(start + length, len(self.nodes))
        stop: int | None = first_stop
        refused = None
        while stop is not None:
            try:
                return self._until(start, stop, known, in_reference=False)
            except _onnxruntime_errors() as error:
                refused = refused or error
                stop = self._further(start, stop, error)
        try:
            return self._until(start, first_stop, known, in_reference=True)
        except Exception as error:
            node = self.nodes[start]
            raise StageError(
                f"{self._path.name}: node {label(node)!r} ({node.op_type}) or its "
                f"neighbours cannot be run apart: onnxruntime: {refused}; "
                f"reference evaluator: {error}",
                hint="the model runs as a whole: please report the operator and its opset",
            ) from error

    def _until(
        self, start: int, stop: int, known: Mapping[str, np.ndarray], *, in_reference: bool
    ) -> tuple[int, dict[str, np.ndarray]]:
        """Run up to `stop`, or as far as sequences and optionals are read."""
        while True:
            nodes = self.nodes[start:stop]
            segment, feeds = self._maker.make(nodes, known)
            escaping = frozenset(
                name
                for node in nodes
                for name in node.output
                if self._is_read_from(name, stop)
            )
            folder = self._weights
            found = (
                run_in_reference(segment, feeds, folder=folder, escaping=escaping)
                if in_reference
                else run_in_onnxruntime(
                    segment, feeds, folder=folder, threads=self._threads, escaping=escaping
                )
            )
            if isinstance(found, dict):
                return stop, found
            stop = 1 + max(self.last_read[name] for name in found)

    def _is_read_from(self, name: str, index: int) -> bool:
        return self.last_read.get(name, -1) >= index

    def _further(self, start: int, stop: int, error: Exception) -> int | None:
        """Return where to try to stop next, or None if a longer segment cannot help."""
        if stop == len(self.nodes) or type(error).__name__ == "NotImplemented":
            return None
        return min(start + 2 * (stop - start), len(self.nodes))


def _onnxruntime_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: it has no common base class of its own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = (
        "Fail",
        "InvalidArgument",
        "InvalidGraph",
        "NotImplemented",
        "RuntimeException",
    )
    return (*(getattr(state, name) for name in names), RuntimeError)
