"""Clip without bounds: refused, and cured by leaving it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.errors import StageError
from tests.emulation import FP32, Linted, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def clips(*inputs: list[str], opset: int = 15) -> onnx.ModelProto:
    """Clip x once for each list of inputs that follow it; nodes are called c0, c1, ..."""
    nodes, previous = [], "x"
    for number, bounds in enumerate(inputs):
        nodes.append(node("Clip", [previous, *bounds], [f"c{number}"]))
        previous = f"c{number}"
    given = {name: np.array(0.5, F32) for bounds in inputs for name in bounds if name}
    return model(nodes, [("x", [4])], [(previous, [4])], given, opset)


@pytest.mark.parametrize("cann", ["6.0", "8.1", "9.1"])
def test_every_such_node_is_named_and_the_cure_converts(tmp_path: Path, cann: str) -> None:
    proto, feeds = clips([], ["low"], []), {"x": np.array([-3e5, 0.1, 0.7, np.inf], F32)}

    assert linted(proto, cann=cann) == [
        Linted("c0", "clip-unbounded", "rejected"),
        Linted("c2", "clip-unbounded", "rejected"),
    ]
    with pytest.raises(StageError, match=r"refuses(.|\n)*'c0'(.|\n)*'c2'"):
        convert(proto, tmp_path, cann=cann)
    edited = cured(proto, "clip-unbounded")
    np.testing.assert_array_equal(
        emulate(edited, feeds, cann=cann, **FP32)["c2"], run(proto, feeds)["c2"]
    )


def test_empty_inputs_count_up_to_6() -> None:
    proto = clips(["", ""])

    assert linted(proto, cann="6.0") == []
    assert linted(proto, cann="9.1") == [Linted("c0", "clip-unbounded", "rejected")]


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(clips(["low"]), id="min"),
        pytest.param(clips(["", "high"]), id="max"),
        pytest.param(clips([], opset=10), id="opset-10"),
    ],
)
def test_lint_is_silent_on_the_others(proto: onnx.ModelProto) -> None:
    assert linted(proto) == []
