"""Whether an ONNX file has the inputs and outputs that its manifest names.

Of the file nothing else is read: neither time nor memory grows with its weights. Where it
cannot be read so, the stage `export` says what is wrong with it.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow.manifest.onnx_file import ModelInput, spelled
from ascendflow.manifest.paths import OutsideError, locate, lookup
from ascendflow.manifest.problems import Problem, closest, closest_or_all, shown
from ascendflow.manifest.value_info import declared, name_of
from ascendflow.wire import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ascendflow.manifest.paths import Places
    from ascendflow.wire import Field

EVERY_OUTPUT = "*"

GRAPH = 7
"""Field of ModelProto. Source of all: onnx/onnx.proto."""
INITIALIZER, INPUT, OUTPUT, SPARSE_INITIALIZER = 5, 11, 12, 15
"""Fields of GraphProto."""
NAME_OF_TENSOR = 8
"""Field of TensorProto."""


class _Ends(NamedTuple):
    inputs: dict[str, ModelInput]
    outputs: list[str]


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
    except (OSError, OutsideError, ValueError):
        return
    yield from _input_problems(path.name, inputs, ends.inputs)
    if lookup(data, ("convert", "out_nodes")) is None:  # they cut others off
        gate = lookup(data, ("gate", "outputs"))
        yield from _output_problems(path.name, gate, ends.outputs)


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


def _ends(path: Path) -> _Ends:
    """Read what has to be fed, and the names of outputs that are text.

    Raises:
        ValueError: it is no ONNX file, or has parts that protobuf would merge, an input
            that is no tensor of a known type, or two of one name.
    """
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        (graph,) = [each for each in walk(data, 0, len(data)) if each.number == GRAPH]
        parts: dict[int, list[Field]] = {INPUT: [], OUTPUT: [], INITIALIZER: []}
        for field in walk(data, graph.content, graph.stop):
            if field.number in parts:
                parts[field.number].append(field)
            elif field.number == SPARSE_INITIALIZER:
                raise ValueError("its name is not looked for")
        weights = {name_of(data, each, NAME_OF_TENSOR) for each in parts[INITIALIZER]}
        named = [(name_of(data, each), each) for each in parts[INPUT]]
        fed = [(name, each) for name, each in named if name not in weights]
        inputs = {name: ModelInput(name, *declared(data, each)) for name, each in fed}
        if len(inputs) < len(fed):
            raise ValueError("two inputs have one name")
        return _Ends(inputs, list(_texts(data, parts[OUTPUT])))


def _texts(data: mmap.mmap, values: Sequence[Field]) -> Iterator[str]:
    for each in values:
        with suppress(UnicodeDecodeError):  # a name that is no text is none to propose
            yield name_of(data, each)
