"""The rules, in the order in which they are applied, whatever order a manifest has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.graph.rules.resize_half_pixel import ResizeHalfPixel

if TYPE_CHECKING:
    from ascendflow.graph.rule import Rule

RULES: tuple[Rule, ...] = (ResizeHalfPixel(),)
