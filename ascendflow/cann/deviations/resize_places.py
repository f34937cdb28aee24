"""Which places ONNX and CANN read along each axis, and whether they are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ascendflow.cann.sampling import Sampling, cann_linear, cann_nearest
from ascendflow.graph.resize_axes import onnx_positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cann.resizing import Resizing
    from ascendflow.graph.resize_axes import OnnxAxis, Positions

NAMES = "HW"


def by_lengths(axis: OnnxAxis) -> OnnxAxis:
    """Return `axis` with the scale that CANN's kernel computes for itself."""
    return replace(axis, scale=axis.length_out / axis.length_in)


def has_own_scale(axis: OnnxAxis) -> bool:
    """Whether the given scale is the kernel's own, in fp32."""
    return bool(np.float32(axis.scale) == np.float32(by_lengths(axis).scale))


def same_places(here: Positions, there: Positions, length_in: int) -> bool:
    """Compare positions; fp32 rounds one to a few millionths of the length."""
    last = length_in - 1
    off = np.abs(np.clip(here, 0, last) - np.clip(there, 0, last))
    return bool((off <= 1e-5 + 1e-6 * length_in).all())


def otherwise_sampled(resizing: Resizing, sampling: Sampling) -> Iterator[str]:
    """Name the axes along which linear `sampling` reads other places than ONNX's mode.

    Both by CANN's own scale, so that a scale that differs is not blamed on the mode.
    """
    for name, axis in zip(NAMES, resizing.axes, strict=True):
        there = onnx_positions(resizing.onnx.mode, by_lengths(axis))
        here = cann_linear(sampling, axis.length_in, axis.length_out)
        if not same_places(here, there, axis.length_in):
            yield spelled(name, axis)


def spelled(name: str, axis: OnnxAxis) -> str:
    """Write an axis and its two lengths."""
    return f"{name} {axis.length_in} -> {axis.length_out}"


def behaviours_differ(resizing: Resizing) -> bool:
    """Whether half-pixel and asymmetric sampling read other places or elements."""
    return any(
        not (
            same_places(
                cann_linear(Sampling.HALF_PIXEL, *lengths),
                cann_linear(Sampling.ASYMMETRIC, *lengths),
                lengths[0],
            )
            if resizing.linear
            else np.array_equal(
                cann_nearest(Sampling.HALF_PIXEL, *lengths, half_away=False),
                cann_nearest(Sampling.ASYMMETRIC, *lengths, half_away=False),
            )
        )
        for lengths in resizing.lengths
    )
