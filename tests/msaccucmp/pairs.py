"""Pairs of tensors of every kind that is met, each with the name of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Pair = tuple[Array, Array]

NAN, INF = float("nan"), float("inf")
NOISES = (0.0, 1e-4, 1e-2, 1.0)
SHAPES = ((2, 3, 5, 7), (1, 16, 33, 31), (10,), (1, 1000), (64, 64), (3, 56, 56))


def pairs() -> dict[str, Pair]:
    """Return all pairs by name; the same each time."""
    rng = np.random.default_rng(20260101)
    kinds = (_random, _natural, _halves, _bfloats, _discrete, _zeros, _special, _huge)
    return {name: pair for kind in kinds for name, pair in kind(rng)}


def _random(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    for shape in SHAPES:
        for noise in NOISES:
            for offset, scale in ((0, 1), (100, 1), (0, 1e-3), (-5, 50)):
                golden = offset + scale * rng.standard_normal(shape)
                target = golden + noise * scale * rng.standard_normal(shape)
                name = f"random-{'x'.join(map(str, shape))}-{noise}-{offset}-{scale}"
                yield name, (_f32(golden), _f32(target))


def _natural(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    """Noise whose spectrum falls as that of photos does, as pixels and as features."""
    for number in range(12):
        frequency = np.hypot(
            *np.meshgrid(np.fft.fftfreq(48), np.fft.fftfreq(64), indexing="ij")
        )
        spectrum = np.fft.fft2(rng.standard_normal((3, 48, 64))) / np.maximum(
            frequency, 1 / 64
        )
        picture = np.fft.ifft2(spectrum).real
        picture = picture - picture.min()
        pixels = np.rint(picture * 255 / picture.max())
        feature = np.maximum(pixels / 255 - 0.4, 0) if number % 2 else pixels
        noise = NOISES[number % len(NOISES)]
        target = feature * (1 + noise * 0.1 * rng.standard_normal(feature.shape))
        yield f"natural-{number}", (_f32(feature), _f32(target))
        yield f"natural-rounded-{number}", (_f32(feature), feature.astype(np.float16))


def _halves(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    for number in range(24):
        golden = rng.standard_normal((8, 40)) * 10.0 ** (number % 6 - 2)
        target = golden + rng.standard_normal(golden.shape) * 10.0 ** (number % 6 - 5)
        half = golden.astype(np.float16), target.astype(np.float16)
        yield f"half-{number}", half
        yield f"half-against-single-{number}", (_f32(golden), half[1])


def _bfloats(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    """As they are stored for the tool, which widens them too."""
    for number in range(4):
        golden = _f32(rng.standard_normal((4, 50)))
        bits = golden.view(np.uint32) & np.uint32(0xFFFF0000)
        yield f"bfloat-{number}", (golden, bits.view(np.float32))


def _discrete(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    for kind in (np.int8, np.uint8, np.int32, np.int64):
        golden: Array = rng.integers(0, 120, (7, 11)).astype(kind)
        target = golden.copy()
        target[2, 3:6] = target[2, 3:6] + 2
        yield f"integers-{kind.__name__}", (golden, target)
        yield f"integers-{kind.__name__}-same", (golden, golden)
    for number, share in enumerate((0.5, 0.01)):
        golden = rng.random((9, 50)) < 0.4
        yield f"bool-{number}", (golden, golden ^ (rng.random(golden.shape) < share))
    yield "bool-same", (np.array([True, False]), np.array([True, False]))
    yield "bool-none", (np.zeros(5, bool), np.zeros(5, bool))


def _zeros(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    some, none = _f32(rng.standard_normal(50)), np.zeros(50, np.float32)
    half_zero = _f32(some * (rng.random(50) < 0.5))
    yield "zeros", (none, none)
    yield "zeros-of-none", (none, -none)
    yield "zero-golden", (none, some)
    yield "zero-target", (some, none)
    yield "zeros-within", (half_zero, half_zero + np.float32(0.01))
    yield "constant", (none + 3, none + 3)
    yield "constants", (none + 3, none - 2)
    yield "constant-golden", (none + 3, some)
    yield "constant-target", (some, none - 1)
    yield "single", (_f32([5]), _f32([5.5]))
    yield "single-opposite", (_f32([5]), _f32([-5]))
    yield "single-zero", (_f32([0]), _f32([1]))
    yield "single-zeros", (_f32([0]), _f32([0]))
    yield "scalar", (_f32(2), _f32(3))
    yield "ones", (_f32([[[[4]]]]), _f32([[[[-4]]]]))
    yield "two", (_f32([1, 2]), _f32([2, 1]))
    for shape in ((0,), (3, 0, 2)):
        yield (
            f"empty-{len(shape)}",
            (np.zeros(shape, np.float32), np.zeros(shape, np.float32)),
        )


def _special(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    plain = _f32(rng.standard_normal(40))

    def put(value: float, place: int = 7) -> Array:
        made = plain.copy()
        made[place] = value
        return made

    for name, value in (("nan", NAN), ("inf", INF), ("minus-inf", -INF)):
        yield f"{name}-of-golden", (put(value), plain)
        yield f"{name}-of-target", (plain, put(value))
        yield f"{name}-of-both", (put(value), put(value))
        yield f"{name}-elsewhere", (put(value), put(value, 8))
    yield "inf-of-both-and-noise", (put(INF), put(INF) + np.float32(0.01))
    yield "infs-opposite", (put(INF), put(-INF))
    yield "all-nan", (plain * NAN, plain * NAN)
    yield "inf-and-nan", (put(INF), put(NAN))


def _huge(rng: np.random.Generator) -> Iterator[tuple[str, Pair]]:
    plain = rng.standard_normal(60) + 3
    near = plain * 1.01 + 0.01
    for power in (9, 15, 18, 25, 30, 37):
        yield f"huge-{power}", (_f32(plain * 10.0**power), _f32(near * 10.0**power))
    for power in (-9, -15, -17, -20, -25, -30):
        yield f"tiny-{power}", (_f32(plain * 10.0**power), _f32(near * 10.0**power))
    yield "double-beyond-single", (plain * 1e100, near * 1e100)
    yield "double-below-single", (plain * 1e-100, near * 1e-100)
    yield "huge-and-tiny", (_f32([1e30, 1e-10, 1]), _f32([1e30, 1e30, 1]))
    large = 2**53 - rng.integers(0, 100, 30)
    yield "integers-beyond-single", (large, large - 1)


def _f32(values: Any) -> Array:
    return np.asarray(values, np.float32)
