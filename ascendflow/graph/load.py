"""Reads an ONNX file into memory without its weights, and lends it inferred shapes."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from ascendflow.errors import AscendflowError, StageError
from ascendflow.graph.constants import mark_embedded
from ascendflow.graph.external_data import dead_references, refer
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.fixed_shapes import fix_shapes, wanted_inputs
from ascendflow.graph.functions import why_not_spelled_out
from ascendflow.graph.gears import lend_gears, lent_gears
from ascendflow.graph.giants import can_follow, why_giant
from ascendflow.graph.lent_shapes import DECLARED, remember_declared
from ascendflow.graph.node_inputs import why_not_these
from ascendflow.graph.nodes import static_shape
from ascendflow.graph.refusals import repeated_names
from ascendflow.graph.structure import Structure, read_structure
from ascendflow.graph.text import not_utf8
from ascendflow.graph.traverse import every_graph
from ascendflow.graph.validity import why_against_the_rules, why_inconsistent
from ascendflow.graph.wholeness import why_not_whole
from ascendflow.manifest.onnx_file import NO_ONNX_HINT, no_onnx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import onnx
    import onnx_ir as ir

    from ascendflow.graph.fixed_shapes import Shapes

_STUMBLES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


def load_model(
    path: Path, shapes: Shapes | None = None, *, gears: Sequence[Shapes] = ()
) -> ir.Model:
    """Read `path`, with the shapes and types that ONNX's shape inference gives.

    External data is not read: its tensors stay references into the file's folder. The
    inferred shapes are lent: `give_back_shapes` restores what the file declares. Inside a
    branch, onnx's inference does not see the values of constants outside it.

    Args:
        path: the file.
        shapes: of inputs, by name; once one is given, none may stay open.
        gears: all such that it is built for, where they stay open (`graph.gears`).

    Raises:
        StageError: `path` is not an ONNX model, or not a valid one.
        UsageError: these shapes are not for its inputs, or do not do.
    """
    with _readable(path):
        model = _with_shapes(_fixed(_read(path), path, shapes), path)
    lend_gears(model, gears)
    return model


def load_to_look(path: Path, shapes: Shapes | None = None) -> ir.Model:
    """Read `path` as `load_model` does, but leave large weights inside of it there too.

    Time and memory do not grow with them. The model must not be saved: it refers to
    `path` as if that were its external data. It may break rules of ONNX, and the files of
    its external data need not be there; one that is must hold what is asked for.

    Args:
        path: the file.
        shapes: of inputs, by name; once one is given, none may stay open.

    Raises:
        StageError: `path` is not an ONNX model, or its external data is not as it says.
        UsageError: these shapes are not for its inputs, or do not do.
    """
    return look(path, shapes)[0]


def look(path: Path, shapes: Shapes | None = None) -> tuple[ir.Model, onnx.ModelProto]:
    """Read `path` as `load_to_look` does; give what it says itself, `shapes` aside, too."""
    import onnx

    with _readable(path):
        declared = fixed = _referring(path)
        if shapes:
            fixed = onnx.ModelProto()
            fixed.CopyFrom(declared)
        model = _with_shapes(_fixed(fixed, path, shapes), path)
    mark_embedded(model, path.name)
    return model, declared


def _fixed(model: onnx.ModelProto, path: Path, shapes: Shapes | None) -> onnx.ModelProto:
    if shapes:
        fix_shapes(model, wanted_inputs(path, model, shapes))
    return model


def _referring(path: Path) -> onnx.ModelProto:
    import onnx

    if path.name != path.name.encode(errors="ignore").decode():
        # No reference can name it.
        read = Structure(onnx.load(path, load_external_data=False), {})
    else:
        read = read_structure(path)
    model, embedded = read
    if dead := list(dead_references(model, path.parent, may_be_absent=True)):
        told = "; ".join(each.message for each in dead)
        message = f"{path.name}: not a readable ONNX model: {told}"
        raise StageError(message, hint=dead[0].hint)
    for tensor in model.graph.initializer:
        if (stored := embedded.get(tensor.name)) is not None:
            refer(tensor, path.name, stored.offset, stored.length)
    return model


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    from google.protobuf.message import DecodeError

    try:
        yield
    except AscendflowError:
        raise
    except DecodeError as error:
        size = path.stat().st_size
        raise StageError(no_onnx(path.name, size), hint=NO_ONNX_HINT) from error
    except Exception as error:  # ValidationError, onnx-ir's SerdeError
        reason = _innermost(error)
        raise StageError(f"{path.name}: not a readable ONNX model: {reason}") from error


def with_new_shapes(model: ir.Model, folder: Path) -> ir.Model:
    """Infer shapes and types again, after an edit; those in gears too.

    Args:
        model: as `load_model` gave it, then edited; of no use afterwards.
        folder: where its external data lies.
    """
    import onnx_ir as ir

    gears = lent_gears(model)
    give_back_shapes(model)
    edited = _with_shapes(ir.to_proto(model), folder / MODEL_FILE)
    lend_gears(edited, gears)
    return edited


def _with_shapes(declared: onnx.ModelProto, path: Path) -> ir.Model:
    import onnx_ir as ir

    if (reason := why_not_spelled_out(declared)) is not None:
        raise StageError(f"{path.name}: {reason}")
    twice = repeated_names(declared.graph, frozenset())
    if problems := "; ".join((*twice, *why_not_these(declared))):
        raise StageError(f"{path.name}: {problems}")
    model = ir.from_proto(_inferred(declared))
    remember_declared(model.graph, declared.graph)
    _refuse_giants(model.graph, path.name)
    _mark_undeclared_constants(model.graph, declared.graph)
    for graph in (model.graph, *model.graph.subgraphs()):
        ir.external_data.set_base_dir(graph, path.parent)
    return model


def _read(path: Path) -> onnx.ModelProto:
    """Read a model that holds what it says and keeps ONNX's rules; inference has more."""
    import onnx

    declared = _whole(onnx.load(path, load_external_data=False), path)
    if (reason := why_against_the_rules(declared)) is not None:
        raise StageError(f"{path.name}: not a readable ONNX model: {reason}")
    return declared


def _whole(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    if problems := list(why_not_whole(model, path.parent)):
        raise StageError(f"{path.name}: not a readable ONNX model: {'; '.join(problems)}")
    return model


def _inferred(declared: onnx.ModelProto) -> onnx.ModelProto:
    """Infer shapes, following values where no vector is too long to be followed."""
    import onnx

    follow = can_follow(declared)
    return onnx.shape_inference.infer_shapes(declared, data_prop=follow)


def _innermost(error: BaseException) -> BaseException:
    """Return what is wrong: onnx-ir's own errors only say where, with the whole graph."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def give_back_shapes(model: ir.Model) -> None:
    """Undo what `load_model` lent, so that a saved file declares what it did before."""
    for value in (*_values(model.graph), *model.graph.initializers.values()):
        if (declared := value.meta.pop(DECLARED, None)) is not None:
            value.type, value.shape = declared


def why_not_inferred(model: onnx.ModelProto) -> str | None:
    """Return what ONNX's shape inference refuses in the nodes of `model`, or None.

    What it declares of shapes inside and behind them is not believed, and is gone
    afterwards. Inference takes no sparse initializer for a dense one, as runtimes do, nor
    names that are no text: of such models nothing is said.
    """
    for graph in every_graph(model):
        graph.ClearField("value_info")
        for output in graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")
    if (reason := why_inconsistent(model)) is None:
        return None
    is_sparse = any(graph.sparse_initializer for graph in every_graph(model))
    return None if is_sparse or any(not_utf8(model)) else reason


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Take an error of the block for the model's fault, if the file breaks ONNX's rules.

    Attributes of a length or a type that no valid node has are told apart from valid ones
    only where it costs nothing: once something stumbled over them.

    Raises:
        StageError: it does, in the place of the error.
    """
    import onnx

    try:
        yield
    except _STUMBLES as error:
        # Not as a reference to the file: that would be blamed as external data.
        model = onnx.load(path, load_external_data=False)
        problems = "; ".join(why_not_whole(model, path.parent))
        reason = problems or why_against_the_rules(model) or why_inconsistent(model)
        if not reason:
            raise
        raise StageError(f"{path.name}: breaks ONNX's rules: {reason}") from error


def _refuse_giants(graph: ir.Graph, name: str) -> None:
    """Refuse a tensor so large that whatever looks at its rows would not end."""
    for value in _values(graph):
        shape = static_shape(value)
        if shape is not None and (reason := why_giant(value.name, shape)) is not None:
            raise StageError(f"{name}: {reason}")


def _mark_undeclared_constants(graph: ir.Graph, proto: onnx.GraphProto) -> None:
    """Remember which initializers have no value info; onnx-ir would write one for each."""
    declared = {value.name for value in (*proto.value_info, *proto.input, *proto.output)}
    for name, value in graph.initializers.items():
        if name not in declared:
            value.meta[DECLARED] = (None, None)


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    """Every value of `graph` and its subgraphs once, in an order that structure fixes."""
    yield from graph.inputs
    for inner in graph.subgraphs():
        yield from inner.inputs
    yield from chain.from_iterable(node.outputs for node in graph.all_nodes())
