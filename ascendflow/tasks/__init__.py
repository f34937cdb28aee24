"""What a `dodo.py` imports: doit's settings, and one task a stage and model."""

from __future__ import annotations

import sys

from ascendflow.tasks.signals import tell

sys.excepthook = tell  # first: doit and all else that is imported takes a while

from ascendflow.tasks.pipelines import DOIT_CONFIG, task_pipelines  # noqa: E402

__all__ = ["DOIT_CONFIG", "task_pipelines"]
