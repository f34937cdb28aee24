from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.resize_half_pixel import MODE, ResizeHalfPixel
from tests.editing import finding, why_skipped
from tests.models import F32, resize, run

if TYPE_CHECKING:
    import onnx


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        pytest.param((1, 3, 8, 8), {"sizes": [1, 3, 16, 16]}, id="2x"),
        pytest.param((1, 3, 8, 6), {"scales": [1, 1, 1.5, 2.5]}, id="1.5x"),
        pytest.param((1, 3, 9, 9), {"sizes": [1, 3, 4, 2]}, id="down"),
        pytest.param((1, 3, 1, 1), {"sizes": [1, 3, 6, 8]}, id="from-1x1"),
        pytest.param((1, 3, 1, 8), {"sizes": [1, 3, 1, 16]}, id="height-stays-1"),
        pytest.param(
            (1, 3, 9, 9),
            {"sizes": [1, 3, 4, 5], "antialias": 1, "opset": 18},
            id="antialias",
        ),
    ],
)
@pytest.mark.parametrize("spelled", [True, False], ids=["half_pixel", "absent"])
def test_linear_half_pixel_resize_is_respelled_and_keeps_its_values(
    shape: tuple[int, ...], kind: dict[str, object], spelled: bool
) -> None:
    attribute = {MODE: "half_pixel"} if spelled else {}
    proto = resize(shape, mode="linear", **attribute, **kind)  # type: ignore[arg-type]

    found, edited = finding(ResizeHalfPixel(), proto)

    assert isinstance(found, Applied)
    assert (found.before, found.after) == (
        {MODE: "half_pixel"},
        {MODE: "pytorch_half_pixel"},
    )
    x = {"x": np.random.default_rng(0).standard_normal(shape).astype(F32)}
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(
            resize([1, 1, 4, 6], sizes=[1, 1, 1, 6], mode="linear"), "H is 1", id="height-1"
        ),
        pytest.param(
            resize([1, 1, 4, 6], sizes=[1, 1, 4, 1], mode="linear"), "W is 1", id="width-1"
        ),
        pytest.param(
            resize([1, 1, 4, 6], sizes=[1, 1, 8, 12], mode="nearest"),
            "mode is 'nearest'",
            id="nearest",
        ),
        pytest.param(
            resize([1, 1, 4, 6], sizes=[1, 1, 8, 12], mode="cubic"),
            "mode is 'cubic'",
            id="cubic",
        ),
        pytest.param(
            resize(
                [1, 1, 4, 6],
                sizes=[1, 1, 8, 12],
                mode="linear",
                coordinate_transformation_mode="asymmetric",
            ),
            "is 'asymmetric', not 'half_pixel'",
            id="asymmetric",
        ),
        pytest.param(
            resize([1, 1, "H", 6], scales=[1, 1, 0.5, 2], mode="linear"),
            "H is dynamic",
            id="dynamic-and-shortened",
        ),
        pytest.param(
            resize([1, 4, 6], scales=[1, 2, 2], mode="linear"),
            "four dimensions",
            id="rank-3",
        ),
        pytest.param(
            resize([1, 1, 4, 6], scales=[1, 1, 2, 2], mode="linear", opset=10),
            "opset 10 has no coordinate_transformation_mode",
            id="opset-10",
        ),
    ],
)
def test_resize_that_could_change_values_is_skipped_with_a_reason(
    proto: onnx.ModelProto, reason: str
) -> None:
    assert reason in why_skipped(ResizeHalfPixel(), proto)


def test_the_two_modes_do_differ_at_length_one() -> None:
    x = {"x": np.arange(24, dtype=F32).reshape(1, 1, 4, 6)}
    outputs = [
        run(
            resize(
                [1, 1, 4, 6],
                sizes=[1, 1, 1, 6],
                mode="linear",
                coordinate_transformation_mode=mode,
            ),
            x,
        )["y"]
        for mode in ("half_pixel", "pytorch_half_pixel")
    ]

    assert outputs[0].ravel().tolist() == [9, 10, 11, 12, 13, 14]
    assert outputs[1].ravel().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("scale", [1, 1.5, 2])
def test_an_open_axis_that_is_not_shortened_keeps_its_values_at_any_length(
    length: int, scale: float
) -> None:
    proto = resize(["N", 2, "H", 6], scales=[1, 1, scale, 2], mode="linear")

    found, edited = finding(ResizeHalfPixel(), proto)

    assert isinstance(found, Applied)
    x = {"x": np.random.default_rng(0).standard_normal((3, 2, length, 6)).astype(F32)}
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])


def test_a_height_that_stays_1_needs_no_batch() -> None:
    proto = resize(["N", 2, 1, 6], scales=[1, 1, 1, 2], mode="linear")

    assert isinstance(finding(ResizeHalfPixel(), proto)[0], Applied)
