"""What is known of the parsers' opsets, said once and told the same everywhere."""

from __future__ import annotations

import pytest

from ascendflow.cann.deviations.opset_window import OpsetWindow
from ascendflow.cann.profile import profile
from ascendflow.manifest import opsets


@pytest.mark.parametrize(
    ("cann", "window", "sure"),
    [
        ("5.0", (8, 15), 15),
        ("6.0", (8, 15), 15),
        ("6.1", (8, 18), 15),
        ("8.1", (8, 18), 15),
        ("8.4", (8, 18), 15),
        ("8.5", (8, 18), 18),
        ("9.1", (8, 18), 18),
    ],
)
def test_between_what_was_read_the_highest_is_not_sure(
    cann: str, window: tuple[int, int], sure: int
) -> None:
    release = profile(cann).release

    assert (profile(cann).opsets, opsets.window(release)) == (window, window)
    assert opsets.highest_sure(release) == sure


def test_lint_gives_the_advice_that_init_gives() -> None:
    assert OpsetWindow.advice is not None
    assert OpsetWindow.advice.startswith(opsets.AGAIN)
