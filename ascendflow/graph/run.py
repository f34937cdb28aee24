"""Runs an ONNX model on the CPU, always the same way.

onnxruntime without graph optimisation, because fusions change values (and some are wrong:
a scaled RMS norm is fused into a node that then refuses its own scale). Where onnxruntime
cannot run a valid model, e.g. for want of bfloat16 arithmetic, ONNX's own reference
evaluator does, and `note` says which node made it so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from ascendflow.errors import StageError
from ascendflow.graph.io_spec import dtype_name, fits, inputs_of, outputs_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    import onnx

    from ascendflow.graph.io_spec import ValueSpec

    Runtime = Literal["onnxruntime", "onnx.reference"]

ONNXRUNTIME: Final = "onnxruntime"
REFERENCE: Final = "onnx.reference"
_NODE = re.compile(r"(?:[Nn]ode[^']{0,40}name:?|Name:) ?'([^']*)'")


class OnnxModel:
    """An ONNX file, ready to run.

    Attributes:
        inputs, outputs: name, dtype and shape of each, in the model's order.
        runtime: "onnxruntime" or "onnx.reference".
        note: why the reference evaluator was taken, naming node and dtype, or None. It
            holds no path, so that a record may keep it.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        """Load `path`, whose external data lies beside it.

        Args:
            path: the ONNX file.
            threads: onnxruntime's threads within an operator; it changes results.

        Raises:
            StageError: neither runtime can load the model.
        """
        model = _structure(path)
        self._path = path
        self.inputs: tuple[ValueSpec, ...] = inputs_of(model)
        self.outputs: tuple[ValueSpec, ...] = outputs_of(model)
        self.runtime: Runtime = ONNXRUNTIME
        self.note: str | None = None
        try:
            self._run = _onnxruntime(path, threads)
        except Exception as error:  # noqa: BLE001 - its classes share no public base
            self._run = self._reference(error)

    def run(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Compute the outputs for one set of feeds.

        Args:
            feeds: an array of the declared dtype and shape for each input; arrays need
                not be contiguous, and scalars are arrays of shape ().

        Returns:
            The outputs by name, in the model's order.

        Raises:
            StageError: a feed is missing, unknown, or of another dtype or shape than the
                model declares (onnxruntime would take shape (1,) for a scalar), or the
                model fails in both runtimes.
        """
        import numpy as np

        check_feeds(self.inputs, feeds)
        ordered = {
            spec.name: np.asarray(feeds[spec.name], order="C") for spec in self.inputs
        }
        try:
            found = self._run(ordered)
        except Exception as error:
            if self.runtime == REFERENCE:
                raise _failed(self._path, error, self.note) from error
            self._run = self._reference(error)
            return self.run(feeds)
        names = [spec.name for spec in self.outputs]
        return {name: np.asarray(v) for name, v in zip(names, found, strict=True)}

    def _reference(self, cause: Exception) -> Any:
        """Fall back to ONNX's reference evaluator, and note why."""
        from onnx.reference import ReferenceEvaluator

        try:
            evaluator = ReferenceEvaluator(str(self._path))
        except Exception as error:
            raise _failed(self._path, cause, None) from error
        self.runtime = REFERENCE
        self.note = _why(_structure(self._path), cause)
        return lambda feeds: evaluator.run(None, feeds)


def check_feeds(inputs: tuple[ValueSpec, ...], feeds: Mapping[str, np.ndarray]) -> None:
    """Refuse feeds that are not exactly what the model declares, all problems at once.

    Raises:
        StageError: with one line for each name, dtype or shape that is wrong.
    """
    names = [spec.name for spec in inputs]
    problems = [f"input {name!r} is not fed" for name in names if name not in feeds]
    problems += [f"there is no input {name!r}" for name in feeds if name not in names]
    for spec in inputs:
        if spec.name not in feeds:
            continue
        fed = feeds[spec.name]
        if fed.dtype.name != spec.dtype:
            problems.append(f"input {spec.name!r} is {spec.dtype}, fed {fed.dtype.name}")
        if spec.shape is not None and not fits(fed.shape, spec.shape):
            problems.append(f"input {spec.name!r} has shape {spec.shape}, fed {fed.shape}")
    if problems:
        raise StageError(
            "the model cannot be fed: " + "; ".join(problems),
            hint=f"its inputs are: {', '.join(map(repr, names))}",
        )


def session_options(threads: int) -> Any:
    """Return options under which onnxruntime computes the same on every run."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    return options


def _onnxruntime(path: Path, threads: int) -> Any:
    import onnxruntime as ort

    options = session_options(threads)
    options.log_severity_level = 3  # errors; warnings repeat what export has settled
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _why(model: onnx.ModelProto, cause: Exception) -> str:
    """Say what onnxruntime could not run, in words without a path."""
    found = _NODE.search(str(cause))
    node = next((n for n in model.graph.node if found and n.name == found[1]), None)
    if node is None:
        kind = type(cause).__name__
        return f"onnxruntime cannot run the model ({kind}); onnx.reference did"
    dtype = _dtype_of(model, next(iter(node.input), ""))
    what = ", ".join(filter(None, (node.op_type, dtype)))
    return f"onnxruntime cannot run {node.name!r} ({what}); onnx.reference did"


def _dtype_of(model: onnx.ModelProto, tensor: str) -> str:
    """Return a tensor's dtype, by inference; "" where it is unknown."""
    import onnx

    graph = onnx.shape_inference.infer_shapes(model).graph
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.name == tensor:
            return dtype_name(value.type.tensor_type.elem_type)
    types = {t.name: t.data_type for t in graph.initializer}
    return dtype_name(types.get(tensor, 0))


def _structure(path: Path) -> onnx.ModelProto:
    """Read the graph without external data; not kept, since weights may be inside."""
    import onnx

    return onnx.load(path, load_external_data=False)


def _failed(path: Path, cause: Exception, note: str | None) -> StageError:
    before = f"; {note.partition(';')[0]}" if note else ""
    return StageError(
        f"{path.name} runs neither in onnxruntime nor in onnx.reference: {cause}{before}",
        hint="operators of domains other than ONNX's own need their own framework",
    )
