"""ONNX's own cases for single operators: taken out of a wheel of onnx, never installed.

onnx 1.16.2 is the last release whose wheel holds them: 1,283 folders, each with a model,
its inputs and the outputs that ONNX's reference gives.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.wheels import CACHE, UnavailableError, unpacked

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["REQUIRED", "UnavailableError", "cases_folder", "is_required"]

REQUIRED = "ASCENDFLOW_NODE_CASES"
"""Set to "required", as CI does, it forbids to go without."""
REQUIREMENT = (
    "onnx==1.16.2 --hash=sha256:"
    "7b98aa9733bd4b781eb931d33b4078ff2837e7d68062460726d6dd011f332bd4"
)


def cases_folder(cache: Path = CACHE, requirement: str = REQUIREMENT) -> Path:
    """Return the folder that holds one folder for each case; fetch it where it is not.

    Raises:
        UnavailableError: pip cannot fetch the wheel, or it is not the one.
    """
    return unpacked(requirement, "onnx/backend/test/data/node/", cache)


def is_required() -> bool:
    """Return whether to go without the cases is a failure."""
    return os.environ.get(REQUIRED) == "required"
