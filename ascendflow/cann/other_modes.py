"""Which other precision modes do without what lint found in one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ascendflow.cann.lint import lint
from ascendflow.cann.precision import MODELLED, why_not_modelled

if TYPE_CHECKING:
    from collections.abc import Callable

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.cann.target import Target


def modes_that_help(
    model: ir.Model, target: Target, is_in_the_way: Callable[[Finding], bool]
) -> list[str]:
    """List the modes in which nothing is in the way, all other settings being as they are.

    None beside modify_mixlist, which ATC takes in mixed precision only.

    Args:
        model: loaded with its shapes, and not edited yet.
        target: what it is built for.
        is_in_the_way: which findings are to be gone.
    """
    settings = target.settings
    if settings.mixlist:
        return []
    others = [
        replace(target, settings=replace(settings, mode=mode))
        for mode in MODELLED
        if mode != settings.mode and why_not_modelled(mode, target.soc) is None
    ]
    return [
        other.settings.mode
        for other in others
        if not any(map(is_in_the_way, lint(model, other, all_weights=True)))
    ]
