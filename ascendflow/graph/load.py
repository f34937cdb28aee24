"""Reads an ONNX file into memory without its weights, and lends it inferred shapes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx
    import onnx_ir as ir

_DECLARED = "ascendflow.declared"


def load_model(path: Path) -> ir.Model:
    """Read `path`, with the shapes and types that ONNX's shape inference gives.

    External data is not read: its tensors stay references into the file's folder. The
    inferred shapes are lent: `give_back_shapes` restores what the file declares. Inside a
    branch, onnx's inference does not see the values of constants outside it.

    Raises:
        StageError: `path` is not an ONNX model.
    """
    import onnx
    import onnx_ir as ir

    from ascendflow.errors import StageError

    try:
        declared = onnx.load(path, load_external_data=False)
        inferred = onnx.shape_inference.infer_shapes(declared, data_prop=True)
        model, lent = ir.from_proto(declared), ir.from_proto(inferred)
    except Exception as error:  # DecodeError, InferenceError, onnx-ir's SerdeError
        reason = _innermost(error)
        raise StageError(f"{path.name}: not a readable ONNX model: {reason}") from error
    _lend_shapes(model.graph, lent.graph)
    _mark_undeclared_constants(model.graph, declared.graph)
    for graph in (model.graph, *model.graph.subgraphs()):
        ir.external_data.set_base_dir(graph, path.parent)
    return model


def _innermost(error: BaseException) -> BaseException:
    """Return what is wrong: onnx-ir's own errors only say where, with the whole graph."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def give_back_shapes(model: ir.Model) -> None:
    """Undo what `load_model` lent, so that a saved file declares what it did before."""
    for value in (*_values(model.graph), *model.graph.initializers.values()):
        if (declared := value.meta.pop(_DECLARED, None)) is not None:
            value.type, value.shape = declared


def without_weights(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Copy `proto` with its external initializers turned into inputs.

    onnx's checker looks for external data beside the file; here there is none to read.
    """
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    external = [
        tensor
        for tensor in copy.graph.initializer
        if tensor.data_location == onnx.TensorProto.EXTERNAL
    ]
    known = {value.name for value in copy.graph.input}
    for tensor in external:
        copy.graph.initializer.remove(tensor)
        if tensor.name not in known:
            copy.graph.input.add().CopyFrom(
                onnx.helper.make_tensor_value_info(
                    tensor.name, tensor.data_type, tensor.dims
                )
            )
    return copy


def _lend_shapes(borrower: ir.Graph, lender: ir.Graph) -> None:
    """Copy types and shapes between two graphs that differ in nothing else."""
    for mine, theirs in zip(_values(borrower), _values(lender), strict=True):
        if theirs.type is not None or theirs.shape is not None:
            mine.meta[_DECLARED] = (mine.type, mine.shape)
            mine.type, mine.shape = theirs.type, theirs.shape


def _mark_undeclared_constants(graph: ir.Graph, proto: onnx.GraphProto) -> None:
    """Remember which initializers have no value info; onnx-ir would write one for each."""
    declared = {value.name for value in (*proto.value_info, *proto.input, *proto.output)}
    for name, value in graph.initializers.items():
        if name not in declared:
            value.meta[_DECLARED] = (None, None)


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    """Every value of `graph` and its subgraphs once, in an order that structure fixes."""
    yield from graph.inputs
    for inner in graph.subgraphs():
        yield from inner.inputs
    yield from chain.from_iterable(node.outputs for node in graph.all_nodes())
