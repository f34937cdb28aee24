"""Gives a model's inputs the shapes the target is built for, and its outputs what follows.

The shapes are set once, at export, because everything after it wants them: rules that
must know a Resize's lengths, the emulator, and ATC itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError
from ascendflow.graph.external_data import SMALL, byte_size
from ascendflow.graph.giants import can_follow, why_giant
from ascendflow.graph.io_spec import fits, input_values, inputs_of, value_spec
from ascendflow.graph.misfits import why_misfit
from ascendflow.manifest.onnx_file import OnnxFile, fixed_shapes, model_inputs
from ascendflow.tensors import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import onnx

    from ascendflow.graph.io_spec import ValueSpec

    Shapes = Mapping[str, Sequence[int]]
    Opened = Mapping[str, Sequence[int]]
    """Input -> which of its dimensions the target leaves open."""


def why_not_these_inputs(
    model: onnx.ModelProto, wanted: Sequence[TensorSpec], opened: Opened
) -> Iterator[str]:
    """Say where the manifest's inputs and the model's differ, listing the real ones.

    A dimension that the model leaves open fits any length; one that the target leaves
    open must be open in the model too.
    """
    real = {spec.name: spec for spec in inputs_of(model)}
    listed = ", ".join(map(repr, real)) or "none"
    names = [spec.name for spec in wanted]
    for name in names:
        if name not in real:
            yield f"the model has no input {name!r}; its inputs are: {listed}"
    for name, spec in real.items():
        if name not in names:
            yield f"the manifest does not name the model's input {name!r}, {spec.dtype}"
    for want in wanted:
        if want.name in real:
            yield from _why_unlike(want, real[want.name].dtype, real[want.name].shape)
            yield from _why_frozen(real[want.name], opened.get(want.name, ()))


def wanted_inputs(path: Path, model: onnx.ModelProto, shapes: Shapes) -> list[TensorSpec]:
    """Return the inputs of `model`, the file `path`, with what it leaves open as given.

    Raises:
        UsageError: one stays open, a shape does not fit, or there is no such input.
    """
    inputs = model_inputs(path, model)
    fixed = fixed_shapes(OnnxFile(path, inputs, {}, None), shapes)
    return [TensorSpec(each.name, each.dtype, fixed[each.name]) for each in inputs]


def fix_shapes(
    model: onnx.ModelProto, wanted: Sequence[TensorSpec], opened: Opened | None = None
) -> list[str]:
    """Set the inputs' shapes in place, and infer the outputs' from them.

    What the file declared for its outputs is dropped first: it is somebody's claim, and
    inference would keep it.

    Args:
        model: inputs as `why_not_these_inputs` accepts them.
        wanted: name, dtype and shape of each input.
        opened: dimensions that stay open; absent: none does.

    Returns:
        The names of the inputs whose shape the model had left open.

    Raises:
        StageError: shape inference finds that the model cannot take these shapes.
    """
    shapes = {spec.name: spec.shape for spec in wanted}
    before = _copied(model.graph.input)
    were_open = [s.name for s in inputs_of(model) if s.shape != tuple(shapes[s.name])]
    for value in input_values(model.graph):
        stays = () if opened is None else opened.get(value.name, ())
        _set_shape(value, shapes[value.name], stays)
    _forget_values(model.graph)
    _infer_outputs(model)
    if were_open:
        _refuse_misfit(model, before, {name: shapes[name] for name in were_open})
    return were_open


def shapes_with(model: onnx.ModelProto, shapes: Shapes) -> dict[str, tuple[int, ...]]:
    """Return each tensor outside of branches whose shape follows from `shapes` of inputs.

    Nothing where inference says that the model cannot take them; `model` stays as it is.
    """
    import onnx

    light = _without_weights(model)
    for value in input_values(light.graph):
        if value.name in shapes:
            _set_shape(value, shapes[value.name], ())
    _forget_values(light.graph)
    for value in light.graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        found = onnx.shape_inference.infer_shapes(light, data_prop=can_follow(light)).graph
    except Exception:  # noqa: BLE001  InferenceError, and what is behind it
        return {}
    known = {}
    for value in (*found.input, *found.value_info, *found.output):
        sizes = value_spec(value).shape
        fixed = tuple(size for size in sizes or () if isinstance(size, int))
        if sizes is not None and len(fixed) == len(sizes):
            known[value.name] = fixed
    return known


def _copied(values: Iterable[onnx.ValueInfoProto]) -> list[onnx.ValueInfoProto]:
    """Copy `values`, which are about to be edited."""
    copies = []
    for value in values:
        copies.append(type(value)())
        copies[-1].CopyFrom(value)
    return copies


def _refuse_misfit(
    model: onnx.ModelProto,
    before: Sequence[onnx.ValueInfoProto],
    given: Mapping[str, Sequence[int]],
) -> None:
    """Raise where a node cannot take what follows from the `given` shapes."""
    light = _without_weights(model)
    for value in light.graph.output:
        value.type.tensor_type.ClearField("shape")
    if (reason := why_misfit(light, before)) is not None:
        told = ", ".join(f"{name} {_spelled(shape)}" for name, shape in given.items())
        raise StageError(
            f"the model does not accept these input shapes: {told}: {reason}",
            hint="give each input the shape the model was made for",
        )


def _infer_outputs(model: onnx.ModelProto) -> None:
    import onnx

    ranks = {value.name: value_spec(value).shape for value in model.graph.output}
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        inferred = onnx.shape_inference.infer_shapes(
            _without_weights(model), data_prop=can_follow(model)
        )
    except Exception as error:
        raise StageError(
            f"the model does not accept these input shapes: {error}",
            hint="give each input the shape the model was made for",
        ) from error
    _refuse_giants(inferred.graph)
    for value, found in zip(model.graph.output, inferred.graph.output, strict=True):
        value.CopyFrom(found)
        shape = value.type.tensor_type.shape
        for dimension in shape.dim:
            dimension.ClearField("dim_param")  # inference numbers its symbols as it goes
        rank = ranks[value.name]
        if not found.type.tensor_type.HasField("shape") and rank is not None:
            # ONNX's checker wants a rank; lengths that nothing confirms stay open.
            shape.SetInParent()
            for _ in rank:
                shape.dim.add()


def _refuse_giants(inferred: onnx.GraphProto) -> None:
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        sizes = value_spec(value).shape or ()
        known = [size for size in sizes if isinstance(size, int)]
        if len(known) == len(sizes) and (reason := why_giant(value.name, known)):
            raise StageError(reason)


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model that infers the same shapes and copies no large initializer."""
    import onnx

    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    for field in ("node", "input", "output", "sparse_initializer"):
        getattr(light.graph, field).extend(getattr(model.graph, field))
    light.graph.name = model.graph.name or "g"
    for tensor in model.graph.initializer:
        if byte_size(tensor) < SMALL:
            light.graph.initializer.append(tensor)
        else:
            stub = light.graph.initializer.add(name=tensor.name, dims=tensor.dims)
            stub.data_type = tensor.data_type
            stub.data_location = onnx.TensorProto.EXTERNAL
    return light


def _forget_values(graph: onnx.GraphProto) -> None:
    """Drop declared shapes of inner tensors: they may contradict the new inputs."""
    from ascendflow.graph.traverse import subgraphs_of

    graph.ClearField("value_info")
    for node in graph.node:
        for inner in subgraphs_of(node):
            _forget_values(inner)


def _set_shape(
    value: onnx.ValueInfoProto, shape: Sequence[int], stays_open: Sequence[int]
) -> None:
    target = value.type.tensor_type.shape
    symbols = [dimension.dim_param for dimension in target.dim]
    target.Clear()
    for index, length in enumerate(shape):
        if index in stays_open:
            # Its own symbol tells inference which dimensions are equal.
            own = symbols[index] if index < len(symbols) else ""
            target.dim.add().dim_param = own or f"{value.name}.{index}"
        else:
            target.dim.add().dim_value = length
    target.SetInParent()  # a scalar has a shape without dimensions, not none


def _why_unlike(
    wanted: TensorSpec, dtype: str, shape: tuple[int | str | None, ...] | None
) -> Iterator[str]:
    name = wanted.name
    if dtype != wanted.dtype:
        yield f"input {name!r} is {dtype} in the model, {wanted.dtype} in the manifest"
    if shape is not None and not fits(wanted.shape, shape):
        yield (
            f"input {name!r} is {_spelled(shape)} in the model, "
            f"{_spelled(wanted.shape)} in the manifest"
        )


def _why_frozen(real: ValueSpec, stays_open: Sequence[int]) -> Iterator[str]:
    shape = real.shape or ()
    for index in stays_open:
        if index < len(shape) and isinstance(shape[index], int):
            yield (
                f"input {real.name!r} is {_spelled(shape)} in the model, and convert "
                f"leaves size {index} of it open: write the file with that size open, "
                "e.g. by the exporter's dynamic_axes"
            )


def _spelled(shape: Sequence[int | str | None]) -> str:
    return "[" + ", ".join("?" if length is None else str(length) for length in shape) + "]"
