from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

GROUND = np.full((200, 300, 3), 128, np.uint8)


def test_the_same_seed_draws_the_same_scene(pan: Callable[[str], Any]) -> None:
    scene = pan("shapes").scene
    (image, mask), (again, mask_again) = (
        scene(GROUND, np.random.default_rng(7)) for _ in range(2)
    )
    assert np.array_equal(image, again)
    assert np.array_equal(mask, mask_again)


@pytest.mark.parametrize("kind", [3, 4])
def test_thin_objects_hold_no_square_of_six_pixels(
    pan: Callable[[str], Any], kind: int
) -> None:
    shape = pan("shapes")._SHAPES[kind]
    for seed in range(20):
        inside = shape(np.random.default_rng(seed))
        squares = np.lib.stride_tricks.sliding_window_view(inside, (6, 6))
        assert inside.any()
        assert not squares.all(axis=(2, 3)).any()


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_an_object_differs_from_the_ground_where_the_mask_says_so(
    pan: Callable[[str], Any], kind: int
) -> None:
    image, mask = pan("shapes").scene(GROUND, np.random.default_rng(3))
    inside, outside = image[mask == kind], image[mask == 0]
    assert abs(inside.mean(axis=0) - outside.mean(axis=0)).max() > 20
