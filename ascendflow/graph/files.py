"""What the files of an ONNX artifact are called, and how weights come beside a graph."""

from __future__ import annotations

import os
from shutil import copyfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MODEL_FILE = "model.onnx"
DATA_FILE = "model.onnx.data"
"""Weights, where they lie beside the graph."""


def link_or_copy(weights: Path, target: Path) -> None:
    """Let `target` be the same file; a copy where nothing can be linked."""
    try:
        os.link(weights, target)
    except OSError:  # another file system, or none that links
        copyfile(weights, target)
