"""Samples drawn at random, as the manifest's `samples: {random: ...}` asks for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.stages.pictures import BYTES
from ascendflow.stages.random_tensors import random_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from ascendflow.stages.pictures import Pictures
    from ascendflow.tensors import TensorSpec

SHAPE_HINT = "is the shape right?"
MOST_ELEMENTS = 2**59
"""numpy counts the bytes of an array in 63 bits, and draws numbers of 8 bytes."""


def random_samples(
    pictures: Pictures,
    how: Mapping[str, Any],
    shapes: Sequence[Mapping[str, Sequence[Any]]],
) -> Iterator[Any]:
    """Yield samples drawn from the config's own seed; ranges are [low, high).

    Of several shapes that the target is built for, each is drawn in its turn.
    """
    import numpy as np

    inputs = pictures.fed
    ranges = {**(how.get("ranges") or {}), **dict.fromkeys(pictures.aipp, BYTES)}
    shapes = pictures.shapes(shapes)
    names = [spec.name for spec in inputs]
    for name, (low, high) in ranges.items():
        if name not in names:
            raise StageError(
                f"random: ranges names {name!r}, which is no input",
                hint=f"the inputs are: {', '.join(names)}",
            )
        if not low < high:
            raise StageError(f"random: the range [{low}, {high}) of {name!r} is empty")
    generator = np.random.default_rng(how["seed"])
    for number in range(how["count"]):
        specs = _shaped(inputs, shapes[number % len(shapes)]) if shapes else inputs
        feeds = {s.name: _drawn(s, generator, ranges.get(s.name)) for s in specs}
        yield {"id": f"random-{number:04d}", "feeds": feeds}


def _shaped(
    inputs: Sequence[TensorSpec], shapes: Mapping[str, Sequence[Any]]
) -> list[TensorSpec]:
    """Give inputs the lengths of a gear; where only a range is known, they keep theirs."""
    return [
        spec._replace(
            shape=tuple(
                size if isinstance(size, int) else own
                for size, own in zip(shapes[spec.name], spec.shape, strict=True)
            )
        )
        for spec in inputs
    ]


def _drawn(
    spec: TensorSpec, generator: np.random.Generator, bounds: Sequence[float] | None
) -> np.ndarray:
    """Draw one tensor.

    Raises:
        StageError: this machine's memory does not hold it.
    """
    what = f"random: input {spec.name!r}, {spec.dtype} of shape {list(spec.shape)}"
    if math.prod(spec.shape) > MOST_ELEMENTS:
        raise StageError(f"{what}, does not fit into any memory", hint=SHAPE_HINT)
    try:
        return random_tensor(spec, generator, bounds)
    except MemoryError as error:
        reason = f"{what}, does not fit into memory: {error}"
        raise StageError(reason, hint=SHAPE_HINT) from error
