"""A stage's child process: how it is called, and what it does around the stage."""

from __future__ import annotations

CHILD_MODULES = (
    "ascendflow.child.failures",
    "ascendflow.child.fork",
    "ascendflow.child.lifeline",
    "ascendflow.child.result",
    "ascendflow.child.seeds",
    "ascendflow.child.sources",
    "ascendflow.child.spec",
    "ascendflow.errors",
    "ascendflow.reads.audit",
    "ascendflow.reads.distributions",
    "ascendflow.reads.inotify",
    "ascendflow.reads.modules",
    "ascendflow.reads.names",
    "ascendflow.reads.observer",
    "ascendflow.reads.territory",
    "ascendflow.reads.tracker",
    "ascendflow.stages.__main__",
    "ascendflow.stages.stage",
)
"""The modules of every child, whatever its stage: they belong to each stage's code digest
and to each spec's `modules`. A test holds this equal to what a child imports."""
