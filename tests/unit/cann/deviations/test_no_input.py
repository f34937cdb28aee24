from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.errors import StageError
from tests.emulation import convert, linted
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path


def test_a_constant_model_is_rejected(tmp_path: Path) -> None:
    """GR06: onnxruntime takes it."""
    proto = model([node("Relu", ["c"], ["y"])], [], [("y", [3])], {"c": np.ones(3, F32)})

    assert linted(proto) == [("", "no-input", "rejected")]
    with pytest.raises(StageError, match="refuses:\n  the graph has no input"):
        convert(proto, tmp_path)


def test_an_initializer_that_is_an_input_counts(tmp_path: Path) -> None:
    constants = {"c": np.ones(3, F32)}
    proto = model([node("Relu", ["c"], ["y"])], [("c", [3])], [("y", [3])], constants)

    assert linted(proto) == []
    convert(proto, tmp_path)
