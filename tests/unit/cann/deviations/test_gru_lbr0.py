"""GRU with linear_before_reset=0 against ONNX's own equations for 1, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulation import FP32, Linted, cured, emulate, linted
from tests.models import run
from tests.recurrent import X, gru, initial, stepped

FEEDS = {"x": X}


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("spelled", [{}, {"linear_before_reset": 0}])
def test_the_reset_gate_is_applied_after(directions: int, spelled: dict[str, Any]) -> None:
    proto = gru(directions=directions, **spelled)

    made = emulate(proto, FEEDS, **FP32)

    right = run(proto, FEEDS)
    expected = stepped("bidirectional" if directions == 2 else "forward", after=True)
    for name in ("y", "y_h"):
        # fp32 against fp64, over five steps
        np.testing.assert_allclose(made[name], expected[name], rtol=0, atol=2e-6)
        assert np.abs(made[name] - right[name]).max() > 0.3


@pytest.mark.parametrize("directions", [1, 2])
def test_lint_names_the_node(directions: int) -> None:
    assert linted(gru(directions=directions)) == [Linted("gru", "gru-lbr0", "silent")]


def test_lint_is_silent_where_it_is_1_anyway() -> None:
    proto = gru(linear_before_reset=1)

    assert linted(proto) == []
    np.testing.assert_array_equal(
        emulate(proto, FEEDS, **FP32)["y"], run(proto, FEEDS)["y"]
    )


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param({}, id="forward"),
        pytest.param({"directions": 2}, id="bidirectional"),
        pytest.param(
            {"inputs": ("x", "w", "r", "b", "", "h"), "extra": {"h": initial(1)}},
            id="initial",
        ),
    ],
)
def test_after_the_rule_it_agrees_with_the_original(kind: dict[str, Any]) -> None:
    proto = gru(**kind)
    edited = cured(proto, "gru-unrolled")

    made, right = emulate(edited, FEEDS, **FP32), run(proto, FEEDS)

    for name in ("y", "y_h"):
        # sums in another order, over five steps
        np.testing.assert_allclose(made[name], right[name], rtol=0, atol=2e-6)
    assert linted(edited) == []
