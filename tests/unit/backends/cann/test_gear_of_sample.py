"""The gears are those of case SH08 and of ATC's own documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.gear_of_sample import gear_of
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from ascendflow.backends.cann.signature import Signature


def said(shapes: str, gears: list[list[int]], input_shape: dict[str, Any]) -> Signature:
    return {
        "schema_version": 1,
        "soc_version": "Ascend310P3",
        "cann": "8.1.RC1",
        "opp": None,
        "shapes": shapes,
        "input_shape": input_shape,
        "gears": gears,
        "inputs": [],
        "outputs": [],
        "nodes": {},
    }


BATCHES = said("dynamic_batch_size", [[1], [4]], {"x": [-1, 8], "k": [2], "y": [-1]})
IMAGES = said("dynamic_image_size", [[8, 8], [8, 16]], {"x": [1, 3, -1, -1]})
DIMS = said("dynamic_dims", [[1, 160], [8, 320]], {"x": [-1, 3, 48, -1], "n": [1]})


@pytest.mark.parametrize(
    ("model", "shapes", "gear"),
    [
        (BATCHES, {"x": (4, 8), "k": (2,), "y": (4,)}, [4]),
        (IMAGES, {"x": (1, 3, 8, 16)}, [8, 16]),
        (DIMS, {"x": (8, 3, 48, 320), "n": (1,)}, [8, 3, 48, 320, 1]),
        (said("static", [], {}), {"x": (7,)}, []),
    ],
)
def test_gear_is_the_sample_s_own(
    model: Signature, shapes: dict[str, tuple[int, ...]], gear: list[int]
) -> None:
    assert gear_of(model, shapes, 0) == gear


@pytest.mark.parametrize(
    ("model", "shapes", "text"),
    [
        (BATCHES, {"x": (5, 8), "k": (2,), "y": (5,)}, "5, the gears of .* are 1; 4"),
        (BATCHES, {"x": (4, 8), "k": (2,), "y": (1,)}, "4,1, the gears"),
        (
            IMAGES,
            {"x": (1, 3, 16, 8)},
            "16,8, the gears of dynamic_image_size are 8,8; 8,16",
        ),
        (DIMS, {"x": (1, 3, 48, 200), "n": (1,)}, "1,200, the gears .* are 1,160; 8,320"),
        (DIMS, {"x": (1, 3, 48), "n": (1,)}, ", the gears"),
    ],
)
def test_no_gear_is_a_refusal_that_lists_them(
    model: Signature, shapes: dict[str, tuple[int, ...]], text: str
) -> None:
    with pytest.raises(
        StageError, match=f"number 3 has no gear: its open sizes are {text}"
    ):
        gear_of(model, shapes, 3)
