"""Samples for the pipeline: seeded scenes over photographs, ready to feed the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import photos
from shapes import scene

if TYPE_CHECKING:
    from collections.abc import Iterator

TEST_SEED = 20_001


def test_samples(  # a factory, no test of pytest's
    count: int = 40,  # noqa: PT028
    seed: int = TEST_SEED,  # noqa: PT028
) -> Iterator[dict[str, Any]]:
    """Scenes over the test photographs, which no training scene shows.

    Args:
        count: How many samples.
        seed: Sample i depends on `seed` and i only, so that asking for more samples
            leaves the earlier ones as they were.

    Yields:
        {"id": str, "feeds": {"image": float32 [1, 3, 192, 256]},
        "labels": {"mask": uint8 [1, 192, 256]}}.
    """
    crops = photos.load("test")
    for index in range(count):
        rng = np.random.default_rng(seed + index)
        image, mask = scene(crops[index % len(crops)], rng)
        yield {
            "id": f"scene-{index:03d}",
            "feeds": {"image": normalise(image)[None]},
            "labels": {"mask": mask[None]},
        }


def normalise(image: np.ndarray) -> np.ndarray:
    """uint8 [height, width, 3] to float32 [3, height, width], about -2 to 2.

    Exact in float32, so that training, PyTorch, ONNX and target see the same numbers.
    """
    planes = image.transpose(2, 0, 1).astype(np.float32)
    return np.ascontiguousarray((planes - np.float32(127.5)) / np.float32(64))
