"""A run of consecutive nodes as a model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.graph.outline import read_by
from ascendflow.graph.run import WEIGHTS_FOLDER, session_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import onnx

    from ascendflow.graph.structure import Structure

SHAPE_ELEMENTS = 64
"""Integer tensors up to this size are given as constants: they may be shapes, which
onnxruntime's shape inference wants to know when a segment is loaded."""


class SegmentMaker:
    """Cuts segments out of one model.

    Args:
        structure: the whole model, its weights not loaded.
    """

    def __init__(self, structure: Structure) -> None:
        self._model, self._embedded = structure
        graph = self._model.graph
        self._dense = {tensor.name: tensor for tensor in graph.initializer}
        self._sparse = {tensor.values.name: tensor for tensor in graph.sparse_initializer}
        # A constant travels with its readers: some operators want one, not any tensor.
        self.constants = {
            node.output[0]: node for node in graph.node if node.op_type == "Constant"
        }

    def make(
        self, nodes: Sequence[onnx.NodeProto], known: Mapping[str, np.ndarray]
    ) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """Make a model of `nodes` whose outputs are all of theirs.

        Args:
            nodes: in graph order.
            known: every tensor that the nodes may read from outside, by name. Their real
                dtypes and shapes become those of the segment's inputs, so that a model
                with dynamic or unknown shapes can be cut anywhere.

        Returns:
            The model, and its feeds. Initializers are copied, external ones by reference.
        """
        import onnx

        segment = onnx.ModelProto(ir_version=self._model.ir_version)
        segment.opset_import.extend(self._model.opset_import)
        segment.functions.extend(self._model.functions)
        segment.graph.name = "segment"
        feeds = self._supply(segment.graph, _read_from_outside(nodes), known)
        segment.graph.node.extend(nodes)
        for node in nodes:
            segment.graph.output.extend(
                onnx.ValueInfoProto(name=name) for name in node.output if name
            )
        return segment, feeds

    def _supply(
        self, graph: onnx.GraphProto, names: Iterable[str], known: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Give `graph` what it reads, as initializer, constant or input."""
        from onnx import numpy_helper

        feeds = {}
        for name in names:
            array = known.get(name)
            if name in self.constants:
                graph.node.append(self.constants[name])
            elif array is not None and _may_be_shape(array):
                graph.initializer.append(numpy_helper.from_array(array, name))
            elif array is not None:
                feeds[name] = array
                graph.input.append(_input(name, array))
            elif name in self._dense:
                graph.initializer.append(self._dense[name])
                if name in self._embedded:
                    graph.initializer[-1].raw_data = self._embedded[name].read()
            elif name in self._sparse:
                graph.sparse_initializer.append(self._sparse[name])
        return feeds


def run_in_onnxruntime(
    segment: onnx.ModelProto,
    feeds: Mapping[str, np.ndarray],
    *,
    folder: Path,
    threads: int,
    escaping: frozenset[str],
) -> dict[str, np.ndarray] | set[str]:
    """Run a segment as a whole model is run, and return its tensors by name.

    Args:
        segment: from `SegmentMaker.make`.
        feeds: the same.
        folder: where the external data lies.
        threads: for one operator.
        escaping: what later nodes read.

    Returns:
        The tensors; sequences and optionals are left out. If one of those is `escaping`,
        instead the set of their names: nothing was run, the segment has to be longer.
    """
    import onnxruntime as ort

    options = session_options(threads)
    options.enable_cpu_mem_arena = False  # it would outlive the segment
    options.log_severity_level = 4
    options.add_session_config_entry(WEIGHTS_FOLDER, str(folder))
    session = ort.InferenceSession(
        segment.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    types = {output.name: output.type for output in session.get_outputs()}
    tensors = [name for name, kind in types.items() if kind.startswith("tensor(")]
    if early := escaping & types.keys() - set(tensors):
        return set(early)
    values = session.run(tensors, dict(feeds)) if tensors else []
    return dict(zip(tensors, values, strict=True))


def run_in_reference(
    segment: onnx.ModelProto,
    feeds: Mapping[str, np.ndarray],
    *,
    folder: Path,
    escaping: frozenset[str],
) -> dict[str, np.ndarray] | set[str]:
    """Run a segment in onnx's reference evaluator; see `run_in_onnxruntime`."""
    import numpy as np
    import onnx
    from onnx.external_data_helper import load_external_data_for_tensor
    from onnx.reference import ReferenceEvaluator

    for tensor in segment.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            load_external_data_for_tensor(tensor, str(folder))
    names = [output.name for output in segment.graph.output]
    found: Any = ReferenceEvaluator(segment).run(names, dict(feeds))
    values = dict(zip(names, found, strict=True))
    tensors = {
        name: np.asarray(value)
        for name, value in values.items()
        if isinstance(value, np.ndarray | np.generic)
    }
    return set(early) if (early := escaping & values.keys() - tensors.keys()) else tensors


def _read_from_outside(nodes: Iterable[onnx.NodeProto]) -> dict[str, None]:
    made: set[str] = set()
    outside: dict[str, None] = {}
    for node in nodes:
        outside |= {name: None for name in read_by(node) if name not in made}
        made.update(node.output)
    return outside


def _may_be_shape(array: np.ndarray) -> bool:
    return array.dtype.name in ("int32", "int64") and array.size <= SHAPE_ELEMENTS


def _input(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
