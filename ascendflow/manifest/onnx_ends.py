"""Whether an ONNX file has the inputs and outputs that its manifest names.

Of the file nothing else is read: neither time nor memory grows with its weights. Where it
cannot be read so, the stage `export` says what is wrong with it.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

from ascendflow.errors import UsageError
from ascendflow.manifest.onnx_file import model_inputs, spelled
from ascendflow.manifest.paths import OutsideError, locate, lookup
from ascendflow.manifest.problems import Problem, closest, closest_or_all, shown
from ascendflow.wire import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import onnx

    from ascendflow.manifest.onnx_file import ModelInput
    from ascendflow.manifest.paths import Places
    from ascendflow.wire import Field

EVERY_OUTPUT = "*"


def onnx_problems(data: Any, places: Places) -> Iterator[Problem]:
    """Hold `inputs` and `gate.outputs` against the file of `source.onnx`."""
    written, inputs = lookup(data, ("source", "onnx")), lookup(data, ("inputs",))
    if not isinstance(written, str) or not written or not isinstance(inputs, list):
        return
    try:
        path = locate(written, places)
        if not path.is_file():  # to open a pipe would wait for ever
            return
        ends = _ends(path)
        real = {each.name: each for each in model_inputs(path, ends)}
    except (OSError, OutsideError, ValueError, UsageError):
        return
    yield from _input_problems(path.name, inputs, real)
    if lookup(data, ("convert", "out_nodes")) is None:  # they cut others off
        # A name that is not UTF-8 is bytes.
        outputs = [each.name for each in ends.graph.output if isinstance(each.name, str)]
        yield from _output_problems(path.name, lookup(data, ("gate", "outputs")), outputs)


def _input_problems(
    file: str, inputs: Sequence[Any], real: dict[str, ModelInput]
) -> Iterator[Problem]:
    names = [lookup(each, ("name",)) for each in inputs]
    for index, name in enumerate(names):
        if not isinstance(name, str):
            return
        if name in real:
            yield from _unlike(file, index, inputs[index], real[name])
        else:
            text = f"is no input of {file}, got {shown(name)}"
            yield Problem(("inputs", index, "name"), text, closest_or_all(name, real))
    for name, each in real.items():
        if name not in names and all(known in real for known in names):
            shape = spelled(each.shape)
            text = f"lacks {shown(name)}, an input of {file}: {each.dtype} {shape}"
            hint = f"add {{name: {name}, dtype: {each.dtype}, shape: [...]}}"
            yield Problem(("inputs",), text, hint, is_apart=True)


def _unlike(file: str, index: int, given: Any, real: ModelInput) -> Iterator[Problem]:
    dtype, shape = lookup(given, ("dtype",)), lookup(given, ("shape",))
    if isinstance(dtype, str) and dtype != real.dtype:
        text = f"is {real.dtype} in {file}, got {shown(dtype)}"
        yield Problem(("inputs", index, "dtype"), text, f"write dtype: {real.dtype}")
    if not isinstance(shape, list) or real.shape is None:
        return
    # Exporters write 0 for "unknown" too.
    fixed = {axis: size for axis, size in enumerate(real.shape) if _is_fixed(size)}
    fits = len(shape) == len(real.shape)
    if not fits or any(shape[axis] != size for axis, size in fixed.items()):
        text = f"must fit {spelled(real.shape)}, as {file} has it, got {spelled(shape)}"
        nearest = [fixed.get(axis, size) for axis, size in enumerate(shape)]
        hint = (
            f"write shape: {spelled(nearest)}" if fits else f"give {len(real.shape)} sizes"
        )
        yield Problem(("inputs", index, "shape"), text, hint)


def _is_fixed(size: int | str | None) -> bool:
    return isinstance(size, int) and size > 0


def _output_problems(file: str, gate: Any, outputs: Sequence[str]) -> Iterator[Problem]:
    for name in gate if isinstance(gate, dict) else ():
        if name != EVERY_OUTPUT and name not in outputs:
            text = f"is no output of {file}"
            listed = f"it has {', '.join(outputs)}; '{EVERY_OUTPUT}' stands for all"
            yield Problem(("gate", "outputs", name), text, closest(name, outputs) or listed)


def _ends(path: Path) -> onnx.ModelProto:
    """Return a model of the file's inputs, outputs and names of initializers alone.

    Raises:
        ValueError: it is no message, or one whose parts protobuf would merge.
    """
    import onnx
    from google.protobuf.message import DecodeError

    ends = onnx.ModelProto()
    number = {each.name: each.number for each in onnx.GraphProto.DESCRIPTOR.fields}
    kept = {number["input"]: ends.graph.input, number["output"]: ends.graph.output}
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        of_model = onnx.ModelProto.DESCRIPTOR.fields_by_name["graph"].number
        (graph,) = [each for each in walk(data, 0, len(data)) if each.number == of_model]
        for field in walk(data, graph.content, graph.stop):
            if field.number in kept:
                try:
                    kept[field.number].add().ParseFromString(_bytes(data, field))
                except DecodeError as error:
                    raise ValueError(str(error)) from error
            elif field.number == number["initializer"]:
                ends.graph.initializer.add(name=_name(data, field))
            elif field.number == number["sparse_initializer"]:
                raise ValueError("its name is not looked for")
    return ends


def _name(data: mmap.mmap, tensor: Field) -> str:
    import onnx

    number = onnx.TensorProto.DESCRIPTOR.fields_by_name["name"].number
    found = [f for f in walk(data, tensor.content, tensor.stop) if f.number == number]
    return _bytes(data, found[-1]).decode() if found else ""


def _bytes(data: mmap.mmap, field: Field) -> bytes:
    return data[field.content : field.stop]
