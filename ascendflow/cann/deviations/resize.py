"""Resize: which pixels CANN up to 8.1 reads, whatever the ONNX node says.

1. The parser turns two spellings of coordinate_transformation_mode into flags:
   `pytorch_half_pixel` and `align_corners`. All others, among them ONNX's default
   `half_pixel`, sample asymmetrically. Opset 10 sets no flag.
2. The kernel computes its own scale, length_in / length_out; `scales` only give the
   size, trunc(length_in * scale). With half-pixel sampling and output length 1 it reads
   the centre, where ONNX's `pytorch_half_pixel` reads index 0.
3. nearest: floor(i * s), floor((i + 0.5) * s) or round(i * s_ac), whatever
   `nearest_mode` says.
4. Not read either: roi, antialias, extrapolation_value, exclude_outside,
   keep_aspect_ratio_policy, cubic_coeff_a.
5. cubic is a parse error.

Sources: canndev `resize_plugin.cc` and `resize_fusion_pass.cc`, 2021-07 to 2022-06;
8.1.RC1 `resize_bilinear_v2.py`, `resize_nearest_neighbor_v2.py`, `image_ops.h`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import onnx_ir as ir

from ascendflow.cann.deviations.deviation import (
    Conditions,
    Deviation,
    add_constant,
    put_in_place,
)
from ascendflow.cann.gap import Gap
from ascendflow.cann.resizing import MODE, Resizing, read
from ascendflow.cann.sampling import (
    cann_linear,
    cann_nearest,
    onnx_nearest,
    onnx_positions,
)

if TYPE_CHECKING:
    from ascendflow.documents.conversion import Confidence


class ResizeSampling(Deviation):
    """Cases 1 to 5 of the module's text."""

    name: ClassVar[str] = "resize-sampling"
    op_types: ClassVar[frozenset[str]] = frozenset({"Resize"})
    cure: ClassVar[str | None] = "resize-half-pixel"
    source: ClassVar[str] = (
        "canndev resize_plugin.cc 2021-07 to 2022-06; CANN 8.1.RC1 resize_bilinear_v2.py, "
        "resize_nearest_neighbor_v2.py"
    )

    def confidence(self, conditions: Conditions) -> Confidence:
        """Read in source up to 6.0; later the plugin is a binary."""
        return conditions.profile.plugin_confidence

    def gap(self, node: ir.Node, conditions: Conditions) -> Gap | None:  # noqa: ARG002
        """Refuse what CANN refuses, and what no formula here covers."""
        found = read(node)
        return found if isinstance(found, Gap) else None

    def difference(self, node: ir.Node, conditions: Conditions) -> str | None:
        """Compare the places where ONNX and CANN read, axis by axis."""
        resizing = _read(node)
        if resizing.ignored:
            return f"CANN does not read {', '.join(resizing.ignored)}"
        mode = resizing.onnx_mode
        for name, axis in zip("HW", resizing.axes, strict=True):
            lengths = axis.length_in, axis.length_out
            if resizing.linear:
                here = cann_linear(resizing.sampling, *lengths)
                there = np.clip(onnx_positions(mode, axis), 0, axis.length_in - 1)
                # fp32 rounds a position to a few millionths of the length
                same = np.allclose(here, there, rtol=0, atol=1e-5 + 1e-6 * axis.length_in)
            else:
                away = conditions.soc.rounds_half_away
                indices = cann_nearest(resizing.sampling, *lengths, half_away=away)
                same = np.array_equal(
                    indices, onnx_nearest(mode, resizing.nearest_mode, axis)
                )
            if not same:
                return (
                    f"{mode!r} becomes {resizing.sampling.value!r} sampling along {name}, "
                    f"{axis.length_in} -> {axis.length_out}"
                )
        return None

    def lower(self, node: ir.Node, conditions: Conditions) -> None:
        """Spell linear so that onnxruntime samples alike; make nearest two Gathers."""
        resizing = _read(node)
        if resizing.linear:
            _lower_linear(node, resizing)
        else:
            _lower_nearest(node, resizing, half_away=conditions.soc.rounds_half_away)


def _read(node: ir.Node) -> Resizing:
    found = read(node)
    assert isinstance(found, Resizing)  # noqa: S101, `gap` comes first
    return found


def _lower_linear(node: ir.Node, resizing: Resizing) -> None:
    inputs: list[ir.Value | None] = [node.inputs[0]]
    attributes = {"mode": "linear"}
    if resizing.opset < 11:
        # Opset 10 always samples asymmetrically, but takes scales only.
        scales = [
            1,
            1,
            *(_scale_for(axis.length_in, axis.length_out) for axis in resizing.axes),
        ]
        inputs.append(add_constant(node, "scales", np.array(scales, np.float32)))
    else:
        # `half_pixel`, not `pytorch_half_pixel`: at length 1 CANN reads the centre.
        attributes[MODE] = resizing.sampling.value
        nothing = None
        if resizing.opset < 13:  # there roi and scales may be empty, but not absent
            nothing = add_constant(node, "nothing", np.zeros(0, np.float32))
        sizes = np.array(resizing.output_shape, dtype=np.int64)
        inputs += [nothing, nothing, add_constant(node, "sizes", sizes)]
    node.resize_inputs(len(inputs))
    for index, value in enumerate(inputs):
        node.replace_input_with(index, value)
    node.attributes.clear()
    for name, text in attributes.items():
        node.attributes[name] = ir.AttrString(name, text)


def _scale_for(length_in: int, length_out: int) -> np.float32:
    """Return the fp32 scale nearest out / in that still gives `length_out`."""
    scale = np.float32(length_out) / np.float32(length_in)
    while int(np.float32(length_in) * scale) < length_out:
        scale = np.nextafter(scale, np.float32(np.inf))
    return scale


def _lower_nearest(node: ir.Node, resizing: Resizing, *, half_away: bool) -> None:
    """Take rows, then columns, at indices computed here in CANN's own arithmetic."""
    value, nodes = node.inputs[0], []
    for name, number, axis in zip("HW", (2, 3), resizing.axes, strict=True):
        indices = cann_nearest(
            resizing.sampling, axis.length_in, axis.length_out, half_away=half_away
        )
        gather = ir.Node(
            "",
            "Gather",
            [value, add_constant(node, f"indices_{name}", indices)],
            [ir.AttrInt64("axis", number)],
            name=f"{node.name}/{name}",
        )
        value = gather.outputs[0]
        value.name = f"{node.outputs[0].name}/{name}"
        nodes.append(gather)
    put_in_place(node, nodes)
