"""What `ascendflow init` must know of an ONNX file: its inputs and what lies beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ascendflow import vocabulary
from ascendflow.errors import UsageError
from ascendflow.manifest import opsets
from ascendflow.manifest.problems import closest_or_all
from ascendflow.manifest.tables import table_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

DTYPES = {"float": "float32", "double": "float64"}
"""ONNX's names of element types, lower case, where numpy has another."""


NO_ONNX_HINT = "compare its size with the original's; a Git LFS pointer is a small text"
"""What to do about a file of which `no_onnx` holds."""


@dataclass(frozen=True)
class ModelInput:
    """An input as the file declares it; a dimension that is not fixed is its name, or None.

    `shape` is None where not even the rank is known.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class OnnxFile:
    """An ONNX file, read without its weights.

    Attributes:
        path: where it lies.
        inputs: its inputs, initializers among them left out (IR version 3 lists both).
        external: location -> file of the weights beside it.
        opset: of ONNX's own operators; None where the file says none.
        tables: input -> length of the table that it looks up.
    """

    path: Path
    inputs: tuple[ModelInput, ...]
    external: Mapping[str, Path]
    opset: int | None
    tables: Mapping[str, int] = field(default_factory=dict)


def read_onnx(path: Path) -> OnnxFile:
    """Read inputs and external locations.

    Raises:
        UsageError: it is no ONNX file or too large for one, an input is no tensor, there
            is no input, or external data is missing or leaves the file's folder.
    """
    import onnx
    from google.protobuf.message import DecodeError

    if path.exists() and not path.is_file():  # to open a pipe would wait for ever
        raise UsageError(f"{path}: is no file")
    try:
        if (size := path.stat().st_size) >= vocabulary.ONNX_FILE_LIMIT:
            raise UsageError(
                f"{path}: has {size} bytes; an ONNX file holds less than 2 GiB",
                hint="save it again with external data: onnx.save(..., "
                "save_as_external_data=True)",
            )
        model = onnx.ModelProto.FromString(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except DecodeError as error:
        raise UsageError(no_onnx(str(path), size), hint=NO_ONNX_HINT) from error
    if not model.HasField("graph") or not model.graph.node:
        raise UsageError(f"{path}: is no ONNX file: it holds no graph")
    inputs = model_inputs(path, model)
    if not inputs:
        raise UsageError(f"{path}: has no input, so there is nothing to feed on the target")
    own = (each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    external = dict(_external(path, model))
    return OnnxFile(path, inputs, external, next(own, None), table_lengths(model))


def no_onnx(name: str, size: int) -> str:
    """Say of a file that protobuf cannot read that it is no ONNX file."""
    return f"{name}: is not an ONNX file, or was cut short: it has {size} bytes"


def model_inputs(path: Path, model: onnx.ModelProto) -> tuple[ModelInput, ...]:
    """Return what must be fed.

    Raises:
        UsageError: an input is no tensor of a type that is known, or has another's name.
    """
    weights = {tensor.name for tensor in model.graph.initializer}
    weights |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    inputs = [
        _input(path, value) for value in model.graph.input if value.name not in weights
    ]
    names = [each.name for each in inputs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: two inputs have the name {twice[0]!r}")
    return tuple(inputs)


def fixed_shapes(
    file: OnnxFile, given: Mapping[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """Return the shape to build for: each input's own, or the one given.

    Raises:
        UsageError: a given name is no input, a shape does not fit, or a dynamic input
            is given none; all inputs that lack one are listed.
    """
    names = [each.name for each in file.inputs]
    for name in given:
        if name not in names:
            hint = closest_or_all(name, names)
            raise UsageError(f"--shape: '{name}' is no input of {file.path}", hint=hint)
    shapes, lacking = {}, []
    for each in file.inputs:
        own = each.shape
        if each.name in given:
            shapes[each.name] = _fitting(each, tuple(given[each.name]))
        elif own is None or not all(isinstance(size, int) for size in own):
            lacking.append(each)
        else:
            shapes[each.name] = tuple(size for size in own if isinstance(size, int))
    if lacking:
        listed = ", ".join(f"{each.name} {spelled(each.shape)}" for each in lacking)
        examples = [f"--shape {each.name}:{_example(each.shape)}" for each in lacking]
        hint = f"say what to build for, e.g. {' '.join(examples)}"
        raise UsageError(f"{file.path}: dynamic dimensions: {listed}", hint=hint)
    return shapes


def refuse_opset(file: OnnxFile, release: tuple[int, int]) -> None:
    """Refuse a file whose opset no parser of the CANN `release` knows.

    Raises:
        UsageError: it is outside of the window.
    """
    low, high = opsets.window(release)
    if file.opset is not None and not low <= file.opset <= high:
        cann = ".".join(map(str, release))
        raise UsageError(
            f"{file.path}: is written in opset {file.opset}, and CANN {cann} parses opsets "
            f"{low} to {high}",
            hint=opsets.AGAIN,
        )


def _input(path: Path, value: onnx.ValueInfoProto) -> ModelInput:
    import onnx

    if isinstance(value.name, bytes):
        raise UsageError(f"{path}: an input's name is not UTF-8: {value.name!r}")
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        what = (kind or "unknown").removesuffix("_type")
        text = f"{path}: the input '{value.name}' is no tensor but of kind {what}"
        raise UsageError(text, hint="atc feeds tensors only; change the model's inputs")
    element = value.type.tensor_type.elem_type
    known = element in onnx.TensorProto.DataType.values()
    word = onnx.TensorProto.DataType.Name(element).lower() if known else str(element)
    dtype = DTYPES.get(word, word)
    if dtype not in vocabulary.DTYPES:
        text = f"{path}: the input '{value.name}' has the element type {word}"
        raise UsageError(text, hint=f"known are {', '.join(vocabulary.DTYPES)}")
    if not value.type.tensor_type.HasField("shape"):
        return ModelInput(value.name, dtype, None)
    sizes: list[int | str | None] = []
    for dim in value.type.tensor_type.shape.dim:
        fixed = dim.WhichOneof("value") == "dim_value"
        # Exporters write -1 for "unknown"; the format has no such size.
        known_size = fixed and dim.dim_value >= 0
        sizes.append(dim.dim_value if known_size else dim.dim_param or None)
    return ModelInput(value.name, dtype, tuple(sizes))


def _fitting(each: ModelInput, given: tuple[int, ...]) -> tuple[int, ...]:
    """Return the given shape if the declared one allows it; 0 may stand for any size."""
    fits = each.shape is None or (
        len(given) == len(each.shape)
        and all(
            not own or own == size or not isinstance(own, int)
            for own, size in zip(each.shape, given, strict=True)
        )
    )
    if not fits:
        own = spelled(each.shape)
        raise UsageError(
            f"--shape {each.name}:{_example(given)} does not fit the model's {own}"
        )
    return given


def spelled(shape: Sequence[int | str | None] | None) -> str:
    """Spell a shape; a size that is not known is its name, or "?"."""
    if shape is None:
        return "[of unknown rank]"
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _example(shape: Sequence[int | str | None] | None) -> str:
    """Spell a shape that a model may have: of pictures, 224 each way."""
    sizes = shape if shape is not None else (1, 3, 224, 224)
    spatial = range(0)
    if len(sizes) == 4:
        spatial = range(1, 3) if sizes[3] in (1, 3, 4) else range(2, 4)
    return ",".join(
        str(size if isinstance(size, int) else 224 if axis in spatial else 1)
        for axis, size in enumerate(sizes)
    )


def _external(path: Path, model: onnx.ModelProto) -> Iterator[tuple[str, Path]]:
    """Yield location and file of external data, each once."""
    folder = path.parent.resolve()
    seen = set()
    for tensor in _tensors(model):
        said = {entry.key: entry.value for entry in tensor.external_data}
        location = said.get("location", "")
        where = f"{path}: tensor {tensor.name!r}: its external data {location!r}"
        if isinstance(location, bytes):
            raise UsageError(f"{where} is not UTF-8")
        parts = PurePosixPath(location)
        file = path.parent / location
        is_odd = "\\" in location or not location.isprintable()
        if not location or parts.is_absolute() or ".." in parts.parts or is_odd:
            raise UsageError(f"{where} must be a file beside the ONNX file")
        if not file.resolve().is_relative_to(folder):
            hint = "it is a link; copy what it leads to beside the ONNX file"
            raise UsageError(f"{where} leaves the folder, to {file.resolve()}", hint=hint)
        if not os.path.isfile(file):  # False too for a name that is too long
            raise UsageError(
                f"{where} does not exist", hint="it belongs beside the ONNX file"
            )
        if location not in seen:
            seen.add(location)
            yield location, file


def _tensors(message: Any) -> Iterator[onnx.TensorProto]:
    """Yield each external tensor, wherever it hangs: sub-graphs and functions too."""
    import onnx

    if isinstance(message, onnx.TensorProto):
        if message.data_location == onnx.TensorProto.EXTERNAL:
            yield message
        return
    for described, value in message.ListFields():
        if described.message_type is not None:
            for each in [value] if hasattr(value, "ListFields") else value:
                yield from _tensors(each)
