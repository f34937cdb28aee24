"""The tensors of a run on the device, by the names that they have in ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.backends.cann.dump.elements import values
from ascendflow.backends.cann.dump.file import read
from ascendflow.backends.cann.dump.layouts import restored
from ascendflow.backends.cann.dump.names import dumps, first_few, spelled
from ascendflow.backends.cann.dump.origins import tensors
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from ascendflow.backends.cann.dump.file import Dump
    from ascendflow.backends.cann.dump.origins import DeviceOp


class ForeignDumpError(StageError):
    """A folder whose dumps are all of operators that the OM has not."""


@dataclass(frozen=True, slots=True)
class Computed:
    """One ONNX tensor as the device computed it.

    Attributes:
        tensor: its name in ONNX.
        op: the device operator.
        output: which of the operator's outputs it is.
        dump: where it is.
    """

    tensor: str
    op: DeviceOp
    output: int
    dump: Dump

    def load(self) -> NDArray[Any]:
        """Read it, in the order and shape that it has in ONNX.

        Raises:
            StageError: its elements or its layout are not read.
        """
        found, origin = self.dump.outputs[self.output], self.op.outputs[self.output]
        shape = found.origin_shape or origin.shape or ()
        try:
            laid, layout = values(self.dump, found), origin.layout or "ND"
            return restored(laid, found.layout, shape, origin=layout, groups=found.groups)
        except StageError as error:
            raise StageError(f"{self.tensor!r} of {self.op.label}: {error}") from error


def computed(
    folder: Path,
    ops: Sequence[DeviceOp],
    outputs: Mapping[str, Sequence[str]],
    warn: Callable[[str], None],
) -> dict[str, Computed]:
    """Return the ONNX tensors that a folder of dumps holds, in the order of time.

    An operator that ran several times counts with its last run.

    Args:
        folder: the dumps of one run of one model.
        ops: of the OM, see `origins`.
        outputs: of the ONNX graph: node name -> names of its outputs.
        warn: is told of files that belong to none of the operators.

    Raises:
        ForeignDumpError: none belongs to one of the operators.
        StageError: a dump cannot be read, or has not as many outputs as its operator has.
    """
    names, spelling = tensors(ops, outputs), _spelled(ops)
    by_name = {op.name: op for op in ops}
    found: dict[str, Computed] = {}
    strangers = []
    for path, told in dumps(folder, warn).items():
        dump = read(path)
        op = by_name.get(dump.op_name) if dump.op_name else spelling.get(spelled(told.name))
        if op is None:
            strangers.append(dump.op_name or told.name)
            continue
        for number in range(len(op.outputs)):
            name = names.get((op.name, number), "")
            if name and number >= len(dump.outputs):
                there = f"{len(dump.outputs)} outputs, {op.name} has {len(op.outputs)}"
                raise StageError(f"{path}: has {there}", hint=_HINT)
            if name:
                found.pop(name, None)  # so that the order is that of the last run
                found[name] = Computed(name, op, number, dump)
    if strangers:
        text = f"{len(strangers)} dumps are of operators that the OM has not"
        text = f"{text}: {first_few(strangers)}"
        if not found:
            raise ForeignDumpError(f"{folder}: {text}", hint=_HINT)
        warn(text)
    return found


_HINT = "the dump is of another OM than this one"


def _spelled(ops: Sequence[DeviceOp]) -> dict[str, DeviceOp | None]:
    """Operators by the names that files have; None of a name that two of them share."""
    found: dict[str, DeviceOp | None] = {}
    for op in ops:
        name = spelled(op.name)
        found[name] = None if name in found else op
    return found
