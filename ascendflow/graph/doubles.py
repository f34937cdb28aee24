"""What an ONNX model would compute if its float64 tensors were float32.

Most kernels of a target have no float64, and on the way there it is often forced to
float32. How far that would move the outputs can be said before anything is built.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.promise import Difference
from ascendflow.graph.run import OnnxModel
from ascendflow.graph.structure import read_structure
from ascendflow.graph.traverse import every_graph, every_node, every_tensor
from ascendflow.graph.validity import without_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Self

    import numpy as np
    import onnx

TYPE_ATTRIBUTES = ("to", "dtype")
SHOWN = 5
"""Nodes that a warning names."""


class InFloat32:
    """The same model with float64 taken for float32; watches how far its outputs are.

    Args:
        path: the ONNX file. Without float64 in it, nothing is run and nothing said.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._nodes = nodes_in_float64(path)
        self._folder: TemporaryDirectory[str] | None = None
        self._model: OnnxModel | None = None
        self._why_not: str | None = None
        self._found: dict[str, Difference] = {}

    def __enter__(self) -> Self:
        """Make the narrow model, where there is anything to narrow."""
        if self._nodes:
            self._folder = TemporaryDirectory(prefix="float32-")
            try:
                narrow = Path(self._folder.name) / MODEL_FILE
                narrow.write_bytes(narrowed(self._path).SerializeToString())
                self._model = OnnxModel(narrow)
            except (StageError, ValueError) as error:  # ValueError: beyond protobuf's 2 GiB
                self._why_not = str(error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove it."""
        if self._folder is not None:
            self._folder.cleanup()

    def add(
        self,
        sample: str,
        feeds: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
    ) -> None:
        """Run one sample and take in how far it is from the model's own outputs."""
        if self._model is None:
            return
        try:
            narrow = self._model.run({name: _float32(fed) for name, fed in feeds.items()})
        except StageError as error:
            self._model, self._why_not = None, str(error)
            return
        for name, wide in outputs.items():
            difference = self._found.setdefault(name, Difference())
            difference.add(sample, wide, narrow[name].astype(wide.dtype, copy=False))

    def warnings(self) -> Iterator[str]:
        """Say how far the outputs would move; nothing for a model without float64."""
        if not self._nodes:
            return
        more = f" and {len(self._nodes) - SHOWN} more" if len(self._nodes) > SHOWN else ""
        named = ", ".join(map(repr, self._nodes[:SHOWN])) + more
        if self._why_not is not None:
            moved = f"what float32 would change there cannot be told: {self._why_not}"
        else:
            moved = "; ".join(_moved(*found) for found in self._found.items())
        yield f"float64 in {named}, which targets take for float32 or refuse: {moved}"


def nodes_in_float64(path: Path) -> list[str]:
    """Name the nodes that read or give float64, those that only convert or store left out.

    A graph that only stores float64 names its nodes all the same.
    """
    import onnx

    double = onnx.TensorProto.DOUBLE
    if not _mentions(read_structure(path).model, double):
        return []  # neither read nor infer what may hold gigabytes
    model = onnx.load(path, load_external_data=False)
    inferred = onnx.shape_inference.infer_shapes(without_weights(model)).graph
    values = (*inferred.input, *inferred.value_info, *inferred.output)
    wide = {v.name for v in values if v.type.tensor_type.elem_type == double}
    wide |= {t.name for t in every_tensor(model) if t.data_type == double}
    touching = [
        node
        for node in every_node(model)
        if not wide.isdisjoint((*node.input, *node.output))
    ]
    computing = [n for n in touching if n.op_type not in ("Cast", "Constant", "Identity")]
    return [node.name or node.output[0] for node in computing or touching]


def _mentions(model: onnx.ModelProto, kind: int) -> bool:
    """Return whether any tensor, input, output or attribute is of this element type."""
    return (
        any(tensor.data_type == kind for tensor in every_tensor(model))
        or any(
            value.type.tensor_type.elem_type == kind
            for graph in every_graph(model)
            for value in (*graph.input, *graph.output)
        )
        or any(
            attribute.name in TYPE_ATTRIBUTES and attribute.i == kind
            for node in every_node(model)
            for attribute in node.attribute
        )
    )


def narrowed(path: Path) -> onnx.ModelProto:
    """Read a model with its weights, every float64 in it made float32."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    double, single = onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT
    model = onnx.load(path)
    for tensor in every_tensor(model):
        if tensor.data_type == double:
            with np.errstate(over="ignore"):
                array = numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for graph in every_graph(model):
        graph.ClearField("value_info")
        for value in (*graph.input, *graph.output):
            if value.type.tensor_type.elem_type == double:
                value.type.tensor_type.elem_type = single
    for node in every_node(model):
        for attribute in node.attribute:
            if attribute.name in TYPE_ATTRIBUTES and attribute.i == double:
                attribute.i = single
    return model


def _float32(fed: np.ndarray) -> np.ndarray:
    import numpy as np

    return fed.astype(np.float32) if fed.dtype == np.float64 else fed


def _moved(name: str, difference: Difference) -> str:
    if difference.mismatch is not None:
        return f"output {name!r}: in float32 {difference.mismatch}"
    error = difference.max_absolute_error
    if not error:
        return f"output {name!r} stays the same in float32"
    return (
        f"in float32 output {name!r} would be up to {error:.6g} off, over a range of "
        f"{difference.range:.6g}"
    )
