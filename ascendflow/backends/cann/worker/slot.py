"""The inputs and outputs of a loaded model, and what is held to them."""

from __future__ import annotations

from typing import Any

from .refused import RefusedError

GEAR_INPUT, AIPP_INPUT = "ascend_mbatch_shape_data", "ascend_dynamic_aipp_data"
"""Inputs that ATC puts in, and that no sample has."""
STATIC, DYNAMIC = "static", "dynamic_shape"
"""Kinds of shapes; the others are the options that name the gears."""
OPEN = -1


class Slot:
    """An input or output, as the loaded model says: -1 is an open size."""

    def __init__(self, name: str, dtype: str, shape: list[int]) -> None:
        self.name, self.dtype, self.shape = name, dtype, shape

    def fits(self, shape: Any) -> bool:
        """Whether an array of this shape is one for it."""
        pairs = list(zip(self.shape, shape))
        return len(self.shape) == len(shape) and all(a in (OPEN, b) for a, b in pairs)


def of_samples(slots: list[Slot], wants_aipp: bool = False) -> list[Slot]:
    """Return the inputs that samples have, without the one that chooses the gear."""
    if wants_aipp or any(slot.name == AIPP_INPUT for slot in slots):
        text = "the OM asks for AIPP's parameters as it runs ({}), which nobody here tells"
        raise RefusedError(text.format(AIPP_INPUT) + ": build it with a static AIPP")
    return [slot for slot in slots if slot.name != GEAR_INPUT]


def kind_of(shapes: str, outputs: list[Slot]) -> str:
    """Return how a model is to be run: one of fixed inputs may have open outputs."""
    is_open = any(OPEN in slot.shape for slot in outputs)
    return DYNAMIC if shapes == STATIC and is_open else shapes


def as_they_come(shapes: str, outputs: list[Slot]) -> list[Slot]:
    """Return outputs as a sample's may be: of gears, the model tells the largest sizes."""
    if shapes in (STATIC, DYNAMIC):
        return outputs
    return [Slot(each.name, each.dtype, [OPEN] * len(each.shape)) for each in outputs]


def stored(dtype: str) -> str:
    """Return numpy's type for the bits of `dtype`."""
    return "uint16" if dtype == "bfloat16" else dtype


def why_not(slots: list[Slot], feeds: dict[str, Any], arrays: dict[str, Any]) -> list[str]:
    """Say where a sample does not fit the model's inputs; nobody behind here looks."""
    wrong = []
    wanted = [slot.name for slot in slots]
    if sorted(wanted) != sorted(feeds):
        wrong.append(f"the OM's inputs are {wanted}, fed are {sorted(feeds)}")
    for slot in slots:
        if slot.name not in feeds:
            continue
        dtype, array = feeds[slot.name]["dtype"], arrays[slot.name]
        if dtype != slot.dtype or str(array.dtype) != stored(dtype):
            text = "input {!r} is {} in the OM, fed is {}"
            wrong.append(text.format(slot.name, slot.dtype, dtype))
        if not slot.fits(array.shape):
            text = "input {!r} has shape {} in the OM, fed is {}"
            wrong.append(text.format(slot.name, slot.shape, list(array.shape)))
    return wrong


def read_output(slot: Slot, array: Any) -> Any:
    """Hold an output to what the model says of it."""
    import numpy as np

    array, dtype = np.asarray(array, order="C"), np.dtype(stored(slot.dtype))
    said = OPEN if OPEN in slot.shape else int(np.prod(slot.shape, dtype=np.int64))
    if array.dtype != dtype and array.nbytes == said * dtype.itemsize:
        # What came is bytes, whatever they are called: the model says what they mean.
        array = np.frombuffer(array.tobytes(), dtype).reshape(slot.shape)
    if array.dtype != dtype or not slot.fits(array.shape):
        text = "output {!r} is {} {} in the OM, and came as {} {}"
        is_there = (array.dtype.name, list(array.shape))
        raise RefusedError(text.format(slot.name, slot.dtype, slot.shape, *is_there))
    return array
