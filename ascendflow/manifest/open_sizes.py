"""The shapes that one OM takes where sizes of its inputs are open: its gears, or ranges.

Source: ATC's documents of `--dynamic_batch_size`, `--dynamic_image_size`,
`--dynamic_dims` (values in the order of the -1s) and `--input_shape`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.manifest.atc_shapes import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ascendflow.manifest.convert import Convert

    Size = int | list[int | None]
    """A length, or the least and the greatest; None where there is no greatest."""
    Admitted = dict[str, list[Size]]
    """Input -> its sizes."""


def open_sizes(convert: Convert) -> dict[str, list[int]]:
    """Return input -> which of its sizes are open; nothing where all are fixed."""
    given = convert.input_shape or convert.input_shape_range or {}
    found = {
        name: [i for i, size in enumerate(sizes) if size == OPEN or isinstance(size, str)]
        for name, sizes in given.items()
    }
    return {name: indexes for name, indexes in found.items() if indexes}


def admitted_shapes(
    convert: Convert, inputs: Mapping[str, Sequence[int]]
) -> list[Admitted]:
    """Return the shapes that the OM takes, each of all inputs; none where all are fixed.

    Args:
        convert: a block that holds (`atc_gears`, `atc_shapes`).
        inputs: name -> the sizes in `inputs`.
    """
    opened = open_sizes(convert)
    if not opened:
        return []
    listed = {name: [*sizes] for name, sizes in inputs.items()}
    gears = list(_gears(convert, opened))
    if not gears:
        return [_ranges(convert, listed, opened)]
    return [_filled(listed, opened, gear) for gear in gears]


def _gears(convert: Convert, opened: Mapping[str, Sequence[int]]) -> Iterator[list[int]]:
    """Yield a length for each open size, in the order in which they are written."""
    places = sum(map(len, opened.values()))
    for batch in convert.dynamic_batch_size or ():
        yield [batch] * places
    for height, width in convert.dynamic_image_size or ():
        yield [height, width] * len(opened)
    for gear in convert.dynamic_dims or ():
        yield list(gear)


def _filled(
    listed: Mapping[str, list[int]], opened: Mapping[str, Sequence[int]], gear: list[int]
) -> Admitted:
    lengths = iter(gear)
    shapes: Admitted = {name: [*sizes] for name, sizes in listed.items()}
    for name, indexes in opened.items():
        for index in indexes:
            shapes[name][index] = next(lengths)
    return shapes


def _ranges(
    convert: Convert,
    listed: Mapping[str, list[int]],
    opened: Mapping[str, Sequence[int]],
) -> Admitted:
    given = convert.input_shape or convert.input_shape_range or {}
    shapes: Admitted = {name: [*sizes] for name, sizes in listed.items()}
    for name, indexes in opened.items():
        for index in indexes:
            low, _, high = str(given[name][index]).partition("~")
            shapes[name][index] = [int(low), int(high)] if high else [1, None]
    return shapes
