"""The stages, in pipeline order, each loaded only when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendflow.stages.stage import Stage

STAGES = (
    ("samples", "ascendflow.stages.samples:Samples"),
    ("export", "ascendflow.stages.export:Export"),
    ("golden", "ascendflow.stages.golden:Golden"),
    ("simplify", "ascendflow.stages.simplify:Simplify"),
    ("rewrite", "ascendflow.stages.rewrite:Rewrite"),
    ("check", "ascendflow.stages.check:Check"),
    ("lint", "ascendflow.stages.lint:Lint"),
    ("convert", "ascendflow.stages.convert:Convert"),
    ("infer", "ascendflow.stages.infer:Infer"),
    ("compare", "ascendflow.stages.compare:Compare"),
    ("evaluate", "ascendflow.stages.evaluate:Evaluate"),
    ("gate", "ascendflow.stages.gate:Gate"),
    ("report", "ascendflow.stages.report:Report"),
    ("contrast", "ascendflow.stages.contrast:Contrast"),
)
"""Ordered (name, "module:Class"): importing one stage must not import its siblings,
or an edit of any would change the code digest of all."""


def load_stage(name: str) -> type[Stage]:
    """Import one stage's class.

    Raises:
        KeyError: `name` is no stage.
    """
    from importlib import import_module

    module, _, class_name = dict(STAGES)[name].partition(":")
    stage: type[Stage] = getattr(import_module(module), class_name)
    return stage
