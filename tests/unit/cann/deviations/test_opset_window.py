from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from tests.emulation import convert, linted
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def written_in(opset: int) -> onnx.ModelProto:
    return model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])], opset=opset)


@pytest.mark.parametrize(
    ("cann", "opset"), [("6.0.RC1", 16), ("8.1", 19), ("8.5", 22), ("6.0", 7), ("9.1", 7)]
)
def test_an_opset_without_parsers_is_rejected_once(
    cann: str, opset: int, tmp_path: Path
) -> None:
    """GR18."""
    assert linted(written_in(opset), cann=cann) == [("", "opset-window", "rejected")]

    with pytest.raises(StageError, match=f"parses opsets 8 to .*, not {opset}") as caught:
        convert(written_in(opset), tmp_path, cann=cann)

    assert "convert_version(model, 15)" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("cann", "opset"), [("6.0.RC1", 15), ("6.0", 8), ("8.1", 18), ("9.1", 18), ("9.1", 8)]
)
def test_both_ends_of_the_window_are_inside(cann: str, opset: int) -> None:
    assert linted(written_in(opset), "opset-window", cann=cann) == []
