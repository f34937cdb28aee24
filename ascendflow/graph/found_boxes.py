"""Outputs made of what NonMaxSuppression finds: as long as the data has it, and a set.

ONNX fixes no order of the boxes that are found, and kernels differ in it where scores are
equal, or nearly so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.io_spec import inputs_of, outputs_of
from ascendflow.graph.outline import read_by
from ascendflow.graph.structure import read_structure

if TYPE_CHECKING:
    from pathlib import Path


def sets_of(path: Path) -> dict[str, int]:
    """Name the outputs of an ONNX file that are sets, with the axis of their items.

    Such an output is made of NonMaxSuppression's, and exactly one of its sizes is open
    though every input is fixed. With open inputs it cannot be told from a batch, and order
    counts.
    """
    model = read_structure(path).model
    for given in inputs_of(model):
        if given.shape is None or not all(isinstance(size, int) for size in given.shape):
            return {}
    boxes: set[str] = set()
    for node in model.graph.node:
        if node.op_type == "NonMaxSuppression" or not boxes.isdisjoint(read_by(node)):
            boxes.update(node.output)
    found = {}
    for made in outputs_of(model):
        sizes = made.shape or ()
        opened = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
        if made.name in boxes and len(opened) == 1:
            found[made.name] = opened[0]
    return found
