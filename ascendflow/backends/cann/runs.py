"""Runs an OM where the manifest says, for its outputs alone or for all tensors inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann import job
from ascendflow.backends.cann.dump.computed import ForeignDumpError, computed
from ascendflow.backends.cann.dump.names import first_few
from ascendflow.backends.cann.dump.origins import device_ops, tensors
from ascendflow.backends.cann.dumped import laid_out
from ascendflow.backends.cann.own_word import own_word
from ascendflow.backends.cann.signature import read_signature
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.cann.dump.computed import Computed
    from ascendflow.backends.cann.dump.origins import DeviceOp
    from ascendflow.backends.cann.signature import Signature

    Feeds = Mapping[str, np.ndarray]

_GB = 10**9


def infer(
    model: Path, feeds: Iterable[Feeds], options: Mapping[str, Any]
) -> Iterator[dict[str, np.ndarray]]:
    """Load the OM once, run every sample, and give their outputs in order."""
    said = read_signature(model)
    with _where(options)(model, feeds, options) as work:
        yield from job.read_outputs(work, job.read_answers(work), said)


def dump(
    model: Path, feeds: Feeds, options: Mapping[str, Any], warn: Callable[[str], None]
) -> Iterator[tuple[str, np.ndarray]]:
    """Run one sample and give every tensor that ONNX has too: outputs, then the others.

    Raises:
        StageError: the dump is missing, too large or damaged, or is not this OM's.
    """
    said, om = read_signature(model), own_word(model).path
    ops = device_ops(om)
    graphs = dict.fromkeys(name for op in ops for name in op.subgraphs)
    asked = {
        # Of an OM that is loaded from a file it is the file's name that counts.
        "models": [om.stem, *graphs],
        "most_bytes": int(options["dump_gb"] * _GB),
    }
    with _where(options)(model, [feeds], {**options, "dump": asked}) as work:
        answers = job.read_answers(work)
        (outputs,) = job.read_outputs(work, answers, said)
        found = _found(laid_out(work, answers), ops, said, warn)
        _tell_missing(ops, said, found.keys() | outputs.keys(), warn)
        yield from outputs.items()
        yield from _loaded(found, outputs, warn)


def _where(options: Mapping[str, Any]) -> Callable[..., AbstractContextManager[Path]]:
    from ascendflow.backends.cann import board, local_device

    return local_device.ran if options["host"] is None else board.ran


def _found(
    folders: Iterable[Path],
    ops: Sequence[DeviceOp],
    said: Signature,
    warn: Callable[[str], None],
) -> dict[str, Computed]:
    """Join what the folders hold; one of other operators is told, where another is ours."""
    found: dict[str, Computed] = {}
    foreign: list[StageError] = []
    for folder in folders:
        try:
            found |= _computed(folder, ops, said, warn)
        except ForeignDumpError as error:
            foreign.append(error)
            told = _as_told(error, folder)
            error.message = f"compare: the device's dump: {told}"
    if foreign and not found:
        raise StageError(foreign[0].message, hint=foreign[0].hint) from foreign[0]
    for each in foreign:
        warn(f"{each.message}; they are not compared")
    return found


def _computed(
    folder: Path, ops: Sequence[DeviceOp], said: Signature, warn: Callable[[str], None]
) -> dict[str, Computed]:
    def aloud(text: str) -> None:
        warn(f"compare: of the device's dump {text}; they are not compared")

    try:
        return computed(folder, ops, said["nodes"], aloud)
    except ForeignDumpError:
        raise
    except StageError as error:
        text = f"compare: the device's dump: {_as_told(error, folder)}"
        raise StageError(text, hint=error.hint) from error


def _as_told(error: StageError, folder: Path) -> str:
    """Leave out a folder that is ours, and gone when the message is read."""
    return error.message.replace(f"{folder}/", "").removeprefix(f"{folder}: ")


def _tell_missing(
    ops: Sequence[DeviceOp],
    said: Signature,
    given: Collection[str],
    warn: Callable[[str], None],
) -> None:
    """Tell of operators whose tensors ONNX has and that left no dump."""
    wanted = tensors(ops, said["nodes"])
    kinds = {op.name: op.op_type for op in ops}
    missing = [op for (op, _), name in wanted.items() if name not in given]
    if missing:
        named = first_few([f"{op!r} ({kinds[op]})" for op in dict.fromkeys(missing)])
        warn(
            f"compare: {len(set(missing))} operators on the device left no dump, so what "
            f"they compute is not compared (some run no kernel of their own): {named}"
        )


def _loaded(
    found: Mapping[str, Computed], outputs: Collection[str], warn: Callable[[str], None]
) -> Iterator[tuple[str, np.ndarray]]:
    for name, each in found.items():
        if name in outputs:
            continue
        try:
            tensor = each.load()
        except StageError as error:
            warn(f"compare: not compared: {_as_told(error, each.dump.path.parent)}")
            continue
        yield name, tensor
