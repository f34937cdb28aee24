"""The gear of a sample: the one whose sizes are the sample's own, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.backends.cann.signature import OPEN
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.backends.cann.signature import Signature


def gear_of(said: Signature, shapes: Mapping[str, Sequence[int]], sample: int) -> list[int]:
    """Return what pyACL is told: a batch, height and width, or the sizes of all inputs.

    Args:
        said: what the model is; without gears the answer is [].
        shapes: input -> its shape in this sample.
        sample: its number, for the message.

    Raises:
        StageError: the sample's shape is no gear; lists the gears.
    """
    gears = said["gears"]
    if not gears:
        return []
    each_open = [
        [shapes[name][place] for place, size in enumerate(sizes) if size == OPEN]
        for name, sizes in said["input_shape"].items()
        if name in shapes and len(sizes) == len(shapes[name])
    ]
    sizes = [size for opened in each_open for size in opened]
    if said["shapes"] == "dynamic_dims":
        if sizes in gears:
            return [size for name in shapes for size in shapes[name]]
    elif sizes and all(opened in ([], [*sizes][: len(gears[0])]) for opened in each_open):
        sizes = sizes[: len(gears[0])]
        if sizes in gears:
            return sizes
    listed = "; ".join(",".join(map(str, gear)) for gear in gears)
    raise StageError(
        f"infer: sample number {sample} has no gear: its open sizes are "
        f"{','.join(map(str, sizes))}, the gears of {said['shapes']} are {listed}",
        hint=f"add it to convert.{said['shapes']}, or leave the sample out",
    )
