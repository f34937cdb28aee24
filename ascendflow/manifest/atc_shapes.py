"""What must hold between `inputs`, `input_shape` and gears, for ATC to take them.

Source: ATC's own checks (GE `compiler/api/aclgrph/option_utils.cc`) and the codes of its
refusals, which messages end in. Shapes are static unless gears (`atc_gears`), or
`dynamic_shape`, say otherwise; what would make a dynamic model by accident is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.manifest.atc_gears import GEARS, gear_problems
from ascendflow.manifest.problems import Keys, Problem, closest_or_all, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ONE_OF = (*GEARS, "input_shape_range")
OPEN = -1
NO_RANGES = "Ascend310B"
"""Atlas 200I/500 A2. Source: ATC's document of `--input_shape`."""


@dataclass(frozen=True)
class Place:
    """An open size: `input_shape[name][index]`."""

    name: str
    index: int


@dataclass(frozen=True)
class Shapes:
    """The raw shapes of a manifest, as far as they are shapes at all.

    Attributes:
        inputs: name -> the sizes in `inputs`.
        indexes: name -> its place in `inputs`.
        given: name -> the sizes in `input_shape`; numbers, -1 and texts such as "1~4".
    """

    inputs: Mapping[str, Sequence[int]]
    indexes: Mapping[str, int]
    given: Mapping[str, Sequence[int | str]]

    @property
    def open(self) -> list[Place]:
        """Sizes of -1, in the order in which gears name them."""
        return [
            Place(name, index)
            for name, sizes in self.given.items()
            for index, size in enumerate(sizes)
            if size == OPEN
        ]

    @property
    def ranges(self) -> list[Place]:
        """Sizes such as "1~4"."""
        return [
            Place(name, index)
            for name, sizes in self.given.items()
            for index, size in enumerate(sizes)
            if isinstance(size, str)
        ]


def shape_problems(convert: Mapping[str, Any], inputs: Any) -> Iterator[Problem]:
    """Yield every mistake of shapes and gears.

    Args:
        convert: the block without its nulls, raw.
        inputs: the manifest's `inputs`, raw.
    """
    shapes = _shapes(convert.get("input_shape"), inputs)
    kinds = [kind for kind in ONE_OF if kind in convert]
    for kind in kinds[1:]:
        text = f"stands beside {kinds[0]}, and ATC takes only one of them (E10009)"
        yield Problem(("convert", kind), text, "remove one")
    yield from _names(convert.get("input_shape"), shapes)
    yield from _ranks(shapes)
    yield from _fixed_sizes(shapes)
    yield from _ranges(convert, shapes)
    gears = [kind for kind in kinds if kind in GEARS]
    for kind in gears[:1]:
        yield from gear_problems(kind, convert, shapes)
    if not gears:
        yield from _declared(convert, shapes)
    elif convert.get("dynamic_shape") is True:
        text = f"stands beside {gears[0]}, whose shapes are fixed"
        yield Problem(("convert", "dynamic_shape"), text, "remove one")
    if gears and "input_hint_shape" in convert:
        text = f"stands beside {gears[0]}, and is for shapes without gears (E10001)"
        yield Problem(("convert", "input_hint_shape"), text, "remove one")


def _shapes(given: Any, inputs: Any) -> Shapes:
    listed: dict[str, list[int]] = {}
    indexes: dict[str, int] = {}
    for index, each in enumerate(inputs if isinstance(inputs, list) else []):
        name, sizes = (
            (each.get("name"), each.get("shape")) if isinstance(each, dict) else (0, 0)
        )
        if not isinstance(name, str) or not isinstance(sizes, list):
            continue
        if all(isinstance(size, int) for size in sizes):
            listed.setdefault(name, sizes)
            indexes.setdefault(name, index)
    known = {
        name: sizes
        for name, sizes in (given.items() if isinstance(given, dict) else ())
        if isinstance(sizes, list) and all(isinstance(size, int | str) for size in sizes)
    }
    return Shapes(listed, indexes, known)


def _names(given: Any, shapes: Shapes) -> Iterator[Problem]:
    for name in given if isinstance(given, dict) else ():
        if name not in shapes.inputs:
            hint = closest_or_all(name, shapes.inputs)
            keys = ("convert", "input_shape", name)
            yield Problem(keys, "is no input's name (E10016)", hint)
    order = [name for name in shapes.given if name in shapes.inputs]
    right = sorted(order, key=lambda name: shapes.indexes[name])
    if order != right:
        text = f"must name inputs in the order of `inputs`, got {', '.join(order)}"
        yield Problem(("convert", "input_shape"), text, f"write {', '.join(right)}")


def _ranks(shapes: Shapes) -> Iterator[Problem]:
    for name, listed in shapes.inputs.items():
        if 0 in listed:
            keys: Keys = ("inputs", shapes.indexes[name], "shape")
            text = f"has a size of 0, got {list(listed)}, and ATC wants 1 or more (E10011)"
            yield Problem(keys, text, "backend: cann cannot build for empty inputs")
    for name, sizes in shapes.given.items():
        keys = ("convert", "input_shape", name)
        if name in shapes.inputs and len(sizes) != len(shapes.inputs[name]):
            index = shapes.indexes[name]
            text = (
                f"has {len(sizes)} sizes, and inputs[{index}].shape "
                f"{len(shapes.inputs[name])} (E10049)"
            )
            yield Problem(keys, text, "give one for each dimension, -1 where it is open")


def _fixed_sizes(shapes: Shapes) -> Iterator[Problem]:
    """Judge whether the samples' shape is one that `input_shape` lets in."""
    for name, sizes in shapes.given.items():
        listed = shapes.inputs.get(name, ())
        if len(listed) != len(sizes):
            continue
        for index, (size, sample) in enumerate(zip(sizes, listed, strict=True)):
            if not _lets_in(size, sample):
                where = f"inputs[{shapes.indexes[name]}].shape[{index}]"
                text = f"is {shown(size)}, and {where} is {sample}"
                hint = "they must fit: samples have the shape in `inputs`"
                yield Problem(("convert", "input_shape", name, index), text, hint)


def _lets_in(size: int | str, sample: int) -> bool:
    if isinstance(size, int):
        return size in (OPEN, sample)
    low, _, high = size.partition("~")
    bounds = low.isdecimal() and high.isdecimal()
    return not bounds or int(low) <= sample <= int(high)


def _ranges(convert: Mapping[str, Any], shapes: Shapes) -> Iterator[Problem]:
    soc = str(convert.get("soc_version"))
    if not soc.startswith(NO_RANGES):
        return
    named: list[Keys] = [
        ("convert", "input_shape", each.name, each.index) for each in shapes.ranges
    ]
    if "input_shape_range" in convert:
        named.append(("convert", "input_shape_range"))
    for keys in named:
        text = f"is a range, which {soc} does not take"
        yield Problem(keys, text, "use gears, e.g. dynamic_dims")


def _declared(convert: Mapping[str, Any], shapes: Shapes) -> Iterator[Problem]:
    """Refuse a dynamic model that nobody asked for, and one that is none."""
    opened = [*shapes.open, *shapes.ranges]
    meant = convert.get("dynamic_shape") is True
    if meant and not opened and "input_shape_range" not in convert:
        text = "is true, and no size of input_shape is open"
        yield Problem(("convert", "dynamic_shape"), text, "write -1 or a range, or false")
    if meant:
        return
    hint = "name gears, or say dynamic_shape: true; ATC would make a dynamic model, unasked"
    if "input_shape_range" in convert:
        text = "opens sizes, without dynamic_shape"
        yield Problem(("convert", "input_shape_range"), text, hint)
    for each in opened:
        size = shown(shapes.given[each.name][each.index])
        keys = ("convert", "input_shape", each.name, each.index)
        yield Problem(keys, f"is {size}, without gears or dynamic_shape", hint)
