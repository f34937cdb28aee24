"""A lone reverse GRU against ONNX's own equations, run forward in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulation import FP32, Linted, cured, emulate, linted
from tests.models import run
from tests.recurrent import X, gru, stepped

FEEDS = {"x": X}


@pytest.mark.parametrize("cann", ["6.0", "8.1"])
def test_it_runs_forward(cann: str) -> None:
    proto = gru(direction="reverse", linear_before_reset=1)

    y = emulate(proto, FEEDS, cann=cann, **FP32)["y"]

    expected = stepped("forward", after=True)["y"]
    np.testing.assert_allclose(y, expected, rtol=0, atol=2e-6)  # fp32 against fp64
    assert np.abs(y - run(proto, FEEDS)["y"]).max() > 0.3
    assert linted(proto, cann=cann) == [Linted("gru", "gru-reverse", "silent")]


@pytest.mark.parametrize("kind", [{"direction": "forward"}, {}, {"directions": 2}])
def test_lint_is_silent_on_the_others(kind: dict[str, str]) -> None:
    assert linted(gru(linear_before_reset=1, **kind)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("after", [0, 1])
def test_after_the_rule_it_agrees_with_the_original(after: int) -> None:
    proto = gru(direction="reverse", linear_before_reset=after)

    made = emulate(cured(proto, "gru-unrolled"), FEEDS, **FP32)

    right = run(proto, FEEDS)
    for name in ("y", "y_h"):
        # sums in another order, over five steps
        np.testing.assert_allclose(made[name], right[name], rtol=0, atol=2e-6)
