"""Draws solid and thin objects over a photograph, with the mask of their classes.

Everything is integer arithmetic on a seeded `numpy.random.Generator`, so that the same
seed gives the same bytes on every machine. Thin objects are three to five pixels wide:
a shift of one pixel costs them a good part of their overlap, which is what makes a
wrong sampling position in a Resize visible in the mean IoU.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = (192, 256)
"""Height and width of every image, in pixels."""

CLASSES = ("background", "disc", "box", "line", "ring")

_ROWS, _COLUMNS = np.mgrid[: SIZE[0], : SIZE[1]].astype(np.int32)
_UNIT = 1024  # directions are integers in units of 1/1024

# Each class has a colour (RGB, before jitter), a texture, and how many an image has.
_COLOURS = ((0, 0, 0), (200, 80, 60), (60, 110, 200), (230, 210, 60), (70, 190, 90))
_COUNTS = {1: (1, 3), 2: (1, 3), 3: (2, 5), 4: (1, 4)}
_JITTER = 40  # of a colour channel, in grey levels
_OPACITY = 208  # of an object, in 256ths
_NOISE = 10  # of every pixel, in grey levels

_Mask = np.ndarray


def scene(photo: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One image and its mask.

    Args:
        photo: uint8 [at least 192, at least 256, 3]; a random part becomes the ground.
        rng: Draws everything; its state moves on.

    Returns:
        uint8 image [192, 256, 3], and uint8 mask [192, 256] of indices into `CLASSES`.
    """
    image = _ground(photo, rng)
    mask = np.zeros(SIZE, np.uint8)
    solid, thin = _draw_order(rng)
    for kind in solid + thin:
        inside = _SHAPES[kind](rng)
        image[inside] += (_paint(kind, rng)[inside] - image[inside]) * _OPACITY // 256
        mask[inside] = kind
    image += rng.integers(-_NOISE, _NOISE + 1, image.shape, dtype=np.int32)
    return image.clip(0, 255).astype(np.uint8), mask


def _ground(photo: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random part of the photograph, perhaps mirrored, of varied contrast; int32."""
    top = rng.integers(photo.shape[0] - SIZE[0] + 1)
    left = rng.integers(photo.shape[1] - SIZE[1] + 1)
    part = photo[top : top + SIZE[0], left : left + SIZE[1]]
    part = part[:, ::-1] if rng.integers(2) else part
    return (part.astype(np.int32) - 128) * rng.integers(150, 280) // 256 + 128


def _draw_order(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Solid and thin classes, repeated; solid ones come first, below the thin ones."""
    kinds = [kind for kind, span in _COUNTS.items() for _ in range(rng.integers(*span))]
    shuffled = [kinds[i] for i in rng.permutation(len(kinds))]
    return [k for k in shuffled if k in (1, 2)], [k for k in shuffled if k in (3, 4)]


def _paint(kind: int, rng: np.random.Generator) -> np.ndarray:
    """The textured colour of one object over the whole image; int32 [192, 256, 3]."""
    colour = np.array(_COLOURS[kind]) + rng.integers(-_JITTER, _JITTER + 1, 3)
    period = rng.integers(4, 8)
    stripes = (_ROWS + _COLUMNS) // period % 2
    checks = (_ROWS // period + _COLUMNS // period) % 2
    plain = np.zeros_like(_ROWS)
    texture = {1: stripes, 2: checks}.get(kind, plain)
    return (colour - 36 * texture[..., None]).astype(np.int32)


def _disc(rng: np.random.Generator) -> _Mask:
    return _squared_distance(rng) <= rng.integers(12, 34) ** 2


def _ring(rng: np.random.Generator) -> _Mask:
    diameter, width = 2 * rng.integers(12, 36), rng.integers(3, 6)
    doubled = 4 * _squared_distance(rng)
    return (doubled >= (diameter - width) ** 2) & (doubled <= (diameter + width) ** 2)


def _box(rng: np.random.Generator) -> _Mask:
    return _bar(rng, 2 * rng.integers(12, 36), 2 * rng.integers(10, 26))


def _line(rng: np.random.Generator) -> _Mask:
    return _bar(rng, 2 * rng.integers(30, 110), rng.integers(3, 6))


def _bar(rng: np.random.Generator, length: int, width: int) -> _Mask:
    """A rectangle of the given sides, in pixels, in any direction, anywhere."""
    dy, dx = _from_centre(rng)
    angle = math.pi * int(rng.integers(180)) / 180
    cos, sin = round(_UNIT * math.cos(angle)), round(_UNIT * math.sin(angle))
    along, across = dx * cos + dy * sin, dy * cos - dx * sin
    return (2 * abs(along) <= _UNIT * length) & (2 * abs(across) <= _UNIT * width)


def _squared_distance(rng: np.random.Generator) -> np.ndarray:
    dy, dx = _from_centre(rng)
    return dy * dy + dx * dx


def _from_centre(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns counted from a random pixel away from the border."""
    return _ROWS - rng.integers(16, SIZE[0] - 16), _COLUMNS - rng.integers(16, SIZE[1] - 16)


_SHAPES: dict[int, Callable[[np.random.Generator], _Mask]] = {
    1: _disc,
    2: _box,
    3: _line,
    4: _ring,
}
