"""What a `dodo.py` imports: doit's settings, and one task a stage and model."""

from __future__ import annotations

from ascendflow.tasks.pipelines import DOIT_CONFIG, task_pipelines

__all__ = ["DOIT_CONFIG", "task_pipelines"]
