from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def test_samples_have_the_names_shapes_and_dtypes_of_the_manifest(
    pan: Callable[[str], Any],
) -> None:
    for sample in pan("data").test_samples(2):
        image, mask = sample["feeds"]["image"], sample["labels"]["mask"]
        assert (image.dtype, image.shape) == (np.float32, (1, 3, 192, 256))
        assert (mask.dtype, mask.shape) == (np.uint8, (1, 192, 256))
        assert image.flags.c_contiguous


def test_more_samples_leave_the_first_ones_as_they_were(pan: Callable[[str], Any]) -> None:
    short, long = (list(islice(pan("data").test_samples(n), 2)) for n in (2, 5))
    for one, other in zip(short, long, strict=True):
        assert one["id"] == other["id"]
        assert np.array_equal(one["feeds"]["image"], other["feeds"]["image"])
        assert np.array_equal(one["labels"]["mask"], other["labels"]["mask"])


def test_another_seed_gives_other_scenes(pan: Callable[[str], Any]) -> None:
    (one,), (other,) = (list(pan("data").test_samples(1, seed)) for seed in (1, 2))
    assert not np.array_equal(one["labels"]["mask"], other["labels"]["mask"])


def test_the_set_shows_every_class(pan: Callable[[str], Any]) -> None:
    masks = [sample["labels"]["mask"] for sample in pan("data").test_samples(4)]
    assert np.unique(np.concatenate(masks)).tolist() == list(range(5))


def test_normalised_grey_levels_are_exact_in_float32(pan: Callable[[str], Any]) -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 256, 1)
    exact = (np.arange(256) - 127.5) / 64  # in float64
    assert np.array_equal(pan("data").normalise(levels)[0, 0].astype(np.float64), exact)
