"""Runs an ONNX model on the CPU, always the same way.

onnxruntime without graph optimisation, because fusions change values (and some are wrong:
a scaled RMS norm is fused into a node that then refuses its own scale). Where onnxruntime
has no kernel for an operator and type, e.g. for want of bfloat16 arithmetic, ONNX's own
reference evaluator runs the model, and `note` says which node made it so. What onnxruntime
refuses for any other reason is refused: the evaluator checks no types, and would give a
wrong model a golden.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from ascendflow.errors import StageError
from ascendflow.graph.io_spec import dtype_name, fits, inputs_of, outputs_of
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import numpy as np
    import onnx

    from ascendflow.graph.io_spec import ValueSpec

    Runtime = Literal["onnxruntime", "onnx.reference"]

ONNXRUNTIME: Final = "onnxruntime"
REFERENCE: Final = "onnx.reference"
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
"""Where onnxruntime looks for the external data of a model that it is given as bytes."""
_NODE = re.compile(r"(?:[Nn]ode[^']{0,40}name:?|Name:) ?'([^']*)'")


class OnnxModel:
    """An ONNX file, ready to run.

    Attributes:
        inputs, outputs: name, dtype and shape of each, in the model's order.
        runtime: "onnxruntime" or "onnx.reference".
        note: why the reference evaluator was taken, naming node and dtype, or None. It
            holds no path, so that a record may keep it.
    """

    def __init__(
        self, path: Path, *, threads: int = 1, weights: Path | None = None
    ) -> None:
        """Load `path`.

        Args:
            path: the ONNX file.
            threads: onnxruntime's threads within an operator; it changes results.
            weights: the folder of its external data; absent: its own.

        Raises:
            StageError: onnxruntime refuses the model, or lacks a kernel and the reference
                evaluator cannot load it either.
        """
        model = read_structure(path).model
        self._path, self._weights = path, weights
        self.inputs: tuple[ValueSpec, ...] = inputs_of(model)
        self.outputs: tuple[ValueSpec, ...] = outputs_of(model)
        self.runtime: Runtime = ONNXRUNTIME
        self.note: str | None = None
        try:
            self._run = _onnxruntime(path, threads, weights)
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
                model fails.
        """
        ordered = self._ordered(feeds)
        try:
            return self._named(self._run(ordered))
        except Exception as error:
            if self.runtime == REFERENCE:
                raise _failed(self._path, error, by=REFERENCE, note=self.note) from error
            self._run = self._reference(error)
            return self.run(feeds)

    def attempt(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
        """Compute the outputs where the runtime in use can; else None, and it stays in use.

        Raises:
            StageError: the feeds are not what the model declares.
        """
        ordered = self._ordered(feeds)
        try:
            return self._named(self._run(ordered))
        except Exception:  # noqa: BLE001 - the runtimes' classes share no public base
            return None

    def _ordered(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        import numpy as np

        _check_feeds(self.inputs, feeds)
        return {spec.name: np.asarray(feeds[spec.name], order="C") for spec in self.inputs}

    def _named(self, found: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
        import numpy as np

        names = [spec.name for spec in self.outputs]
        return {name: np.asarray(v) for name, v in zip(names, found, strict=True)}

    def _reference(self, cause: Exception) -> Any:
        """Fall back to ONNX's reference evaluator for want of a kernel, and note why."""
        from onnx.reference import ReferenceEvaluator

        if not _is_kernel_missing(cause):
            raise _failed(self._path, cause, by=ONNXRUNTIME) from cause
        try:
            evaluator = ReferenceEvaluator(_loaded(self._path, self._weights))
        except Exception as error:
            raise _failed(self._path, cause, by=ONNXRUNTIME) from error
        self.runtime = REFERENCE
        self.note = _why(read_structure(self._path).model, cause)
        return lambda feeds: evaluator.run(None, feeds)


def _check_feeds(inputs: tuple[ValueSpec, ...], feeds: Mapping[str, np.ndarray]) -> None:
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


def _onnxruntime(path: Path, threads: int, weights: Path | None) -> Any:
    import onnxruntime as ort

    options = session_options(threads)
    options.log_severity_level = 3  # errors; warnings repeat what export has settled
    model: str | bytes = str(path)
    if weights is not None:
        model = path.read_bytes()
        options.add_session_config_entry(WEIGHTS_FOLDER, str(weights))
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _loaded(path: Path, weights: Path | None) -> onnx.ModelProto:
    import onnx

    model = onnx.load(path, load_external_data=False)
    onnx.load_external_data_for_model(model, str(weights or path.parent))
    return model


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


def _is_kernel_missing(error: Exception) -> bool:
    """Whether onnxruntime knows the operator, or takes feeds, but not of this type."""
    # Its classes are not public, and feeds of bfloat16 meet a plain RuntimeError.
    not_fed = "can't be converted to MLDataType" in str(error)
    return type(error).__name__ == "NotImplemented" or not_fed


def _failed(
    path: Path, cause: Exception, *, by: Runtime, note: str | None = None
) -> StageError:
    before = f"{note.partition(';')[0]}, and " if note else ""
    reason = str(cause).replace(f"{path.parent}/", "")
    return StageError(
        f"{path.name}: {before}{by} fails: {reason}",
        hint="operators of domains other than ONNX's own need their own framework",
    )
