"""What slices say of the inputs: their shapes, which sizes are open, and the gears."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.manifest.open_sizes import admitted_shapes, open_sizes

if TYPE_CHECKING:
    from ascendflow.manifest.models import Manifest


def inputs(manifest: Manifest) -> list[dict[str, Any]]:
    """Return each input as the manifest has it."""
    return [
        {"name": each.name, "dtype": each.dtype, "shape": list(each.shape)}
        for each in manifest.inputs
    ]


def inputs_and_open(manifest: Manifest) -> list[dict[str, Any]]:
    """Say of each input which of its sizes stay open in the graph, where any does."""
    opened = open_sizes(manifest.convert)
    return [
        {**each, "open": opened[each["name"]]} if each["name"] in opened else each
        for each in inputs(manifest)
    ]


def admitted(manifest: Manifest) -> dict[str, Any]:
    """Return what samples may look like, where a model is built for several shapes."""
    given = {each.name: each.shape for each in manifest.inputs}
    shapes = admitted_shapes(manifest.convert, given)
    return {"shapes": shapes} if shapes else {}


def gears(manifest: Manifest) -> dict[str, Any]:
    """Return the inputs' shapes in each gear, where there are any; of ranges, nothing."""
    shapes = admitted(manifest).get("shapes", [])
    sizes = (size for each in shapes for sizes in each.values() for size in sizes)
    fixed = bool(shapes) and all(isinstance(size, int) for size in sizes)
    return {"gears": shapes} if fixed else {}
