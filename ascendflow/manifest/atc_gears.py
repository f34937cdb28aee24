"""What must hold of gears, the few shapes that one OM is built for.

Sources: as in `atc_shapes`; GE `graph/preprocess/multi_batch_options.cc` counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.manifest.problems import Keys, Problem, shown
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ascendflow.manifest.atc_shapes import Shapes

GEARS = ("dynamic_batch_size", "dynamic_image_size", "dynamic_dims")
HEIGHT_AND_WIDTH = (2, 3)
FEWEST, MOST, MOST_ON_950 = 2, 100, 256
ON_950 = ("Ascend910_95", "Ascend950")


def gear_problems(
    kind: str, convert: Mapping[str, Any], shapes: Shapes
) -> Iterator[Problem]:
    """Yield every mistake of one option of gears.

    Args:
        kind: which one it is, of `GEARS`.
        convert: the block without its nulls, raw.
        shapes: what the manifest says of shapes.
    """
    keys = ("convert", kind)
    if "input_shape" not in convert:
        hint = f"with -1 where gears differ{_example(kind, shapes)}"
        yield Problem(keys, "needs input_shape (E10004)", hint)
    for each in shapes.ranges:
        size = shown(shapes.given[each.name][each.index])
        place = ("convert", "input_shape", each.name, each.index)
        text = f"is {size}, and {kind} takes no ranges (E10040)"
        yield Problem(place, text, "write -1; the gears name the sizes")
    if shapes.given and not shapes.open:
        code = "E10031" if kind == "dynamic_batch_size" else "E10040"
        text = f"has no -1 for the gears of {kind} ({code})"
        yield Problem(("convert", "input_shape"), text, "write -1 where they differ")
    yield from {
        "dynamic_batch_size": _open_batches,
        "dynamic_image_size": _open_images,
        "dynamic_dims": _open_dims,
    }[kind](convert, shapes)
    gears = _gears(convert[kind])
    if gears is not None:
        soc = str(convert.get("soc_version"))
        yield from _counts(keys, gears, MOST_ON_950 if soc.startswith(ON_950) else MOST)
        yield from _values(keys, kind, gears, len(shapes.open))
        yield from _fits(keys, kind, gears, shapes)


def _example(kind: str, shapes: Shapes) -> str:
    """Write the manifest's own shapes with -1 where this kind of gears has them."""
    places = {"dynamic_batch_size": (0,), "dynamic_image_size": HEIGHT_AND_WIDTH}.get(kind)
    if places is None or not shapes.inputs:
        return ""  # which sizes dynamic_dims leaves open is for the user to say
    opened = {
        printable(name): [-1 if at in places else size for at, size in enumerate(sizes)]
        for name, sizes in shapes.inputs.items()
    }
    spelled = ", ".join(f"{name}: {sizes}" for name, sizes in opened.items())
    return f": input_shape: {{{spelled}}}"


def _gears(written: Any) -> list[list[int]] | None:
    """Read gears as lists of whole numbers; None where a type is wrong, told elsewhere."""
    if not isinstance(written, list):
        return None
    gears = [each if isinstance(each, list) else [each] for each in written]
    whole = all(type(value) is int for gear in gears for value in gear)
    return gears if whole else None


def _open_batches(convert: Mapping[str, Any], shapes: Shapes) -> Iterator[Problem]:
    del convert
    for name, sizes in shapes.given.items():
        if not sizes:
            text = "is a scalar, which has no batch (E10012)"
            yield Problem(("convert", "input_shape", name), text, "use dynamic_dims")
    for each in shapes.open:
        if each.index > 0:
            keys = ("convert", "input_shape", each.name, each.index)
            text = "is -1, and only the first size is a batch (E10018)"
            yield Problem(keys, text, "fix it, or use dynamic_dims")


def _open_images(convert: Mapping[str, Any], shapes: Shapes) -> Iterator[Problem]:
    layout = convert.get("input_format", "NCHW")
    if layout != "NCHW":
        text = f"needs input_format NCHW, got {shown(layout)} (E10003)"
        yield Problem(("convert", "dynamic_image_size"), text, "use dynamic_dims")
    for name in dict.fromkeys(each.name for each in shapes.open):
        sizes = shapes.given[name]
        opened = tuple(each.index for each in shapes.open if each.name == name)
        if len(sizes) != 4 or opened != HEIGHT_AND_WIDTH:
            text = f"must be open in height and width alone, got {list(sizes)} (E10019)"
            hint = "[n, c, -1, -1]; for other sizes use dynamic_dims"
            yield Problem(("convert", "input_shape", name), text, hint)


def _open_dims(convert: Mapping[str, Any], shapes: Shapes) -> Iterator[Problem]:
    del shapes
    if "insert_op_conf" in convert:
        text = "stands beside insert_op_conf, and AIPP takes no such gears (E10001)"
        yield Problem(("convert", "dynamic_dims"), text, "remove one")


def _counts(keys: Keys, gears: list[list[int]], most: int) -> Iterator[Problem]:
    if len(gears) < FEWEST:
        text = f"must have at least {FEWEST} gears, got {len(gears)} (E10035)"
        yield Problem(keys, text, "a single shape needs no gears: write it in `inputs`")
    if len(gears) > most:
        text = f"must have at most {most} gears, got {len(gears)} (E10036)"
        yield Problem(keys, text, "remove some")
    first: dict[tuple[int, ...], int] = {}
    for index, gear in enumerate(gears):
        if first.setdefault(tuple(gear), index) != index:
            text = f"is gear {first[tuple(gear)]} again, got {_shown(gear)} (E10039)"
            yield Problem((*keys, index), text, "remove one")


def _values(
    keys: Keys, kind: str, gears: list[list[int]], wanted: int
) -> Iterator[Problem]:
    wants = {"dynamic_image_size": 2, "dynamic_dims": wanted}.get(kind, 1)
    code = {"dynamic_image_size": "E10020"}.get(kind, "E10003")
    unequal = wants == 0 and len({len(gear) for gear in gears}) > 1
    if unequal:
        text = f"has gears of {' and '.join(str(len(gear)) for gear in gears)} values"
        yield Problem(keys, f"{text} (E10037)", "give each as many as there are -1")
    for index, gear in enumerate(gears):
        if wants and len(gear) != wants:
            text = f"must have {wants} values, one for each -1, got {len(gear)} ({code})"
            yield Problem((*keys, index), text, f"got {_shown(gear)}")
        if any(value <= 0 for value in gear):
            low = "E10001" if kind == "dynamic_dims" else "E10038"
            text = f"must be above 0, got {_shown(gear)} ({low})"
            yield Problem((*keys, index), text, "sizes are 1 or more")


def _fits(
    keys: Keys, kind: str, gears: list[list[int]], shapes: Shapes
) -> Iterator[Problem]:
    """Judge whether the samples' shape is a gear, so that one can be found for them."""
    sample = []
    for each in shapes.open:
        sizes = shapes.inputs.get(each.name, ())
        if each.index >= len(sizes):
            return
        sample.append(sizes[each.index])
    if not sample or len(gears) < FEWEST:
        return
    repeats = 1 if kind == "dynamic_dims" else len(sample) // max(len(gears[0]), 1)
    if any(gear * repeats == sample for gear in gears):
        return
    text = f"has no gear for the shapes of `inputs`, open at {sample}"
    yield Problem(keys, text, "add it, or give `inputs` the shape of a gear")


def _shown(gear: Sequence[int]) -> str:
    """Spell a gear as ATC does: "1,160"."""
    return shown(",".join(map(str, gear)))
