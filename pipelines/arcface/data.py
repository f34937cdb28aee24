"""Samples for the pipeline: crops of photographs of people, as ArcFace wants them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import png

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "crops"


def face_samples() -> Iterator[dict[str, Any]]:
    """Each crop as a sample, in the order of the names.

    Yields:
        {"id": str, "feeds": {"image": float32 [1, 3, 112, 112]}}.
    """
    for path in crops():
        yield {"id": path.stem, "feeds": {"image": normalise(png.read(path))[None]}}


def images() -> np.ndarray:
    """All of them as one batch; float32 [samples, 3, 112, 112]."""
    return np.concatenate([sample["feeds"]["image"] for sample in face_samples()])


def crops() -> list[Path]:
    """The files, in the order of their names.

    Raises:
        FileNotFoundError: there are none.
    """
    paths = sorted(FOLDER.glob("*.png"))
    if not paths:
        raise FileNotFoundError(f"no *.png in {FOLDER}\nhint: run make_crops.py")
    return paths


def normalise(image: np.ndarray) -> np.ndarray:
    """uint8 RGB [height, width, 3] to float32 [3, height, width] from -1 to 1.

    Divided by 255, less 0.5, divided by 0.5, each step in float32.
    """
    planes = image.transpose(2, 0, 1).astype(np.float32)
    half = np.float32(0.5)
    return np.ascontiguousarray((planes / np.float32(255) - half) / half)
