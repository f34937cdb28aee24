"""Damage to the bytes of a file: bytes, random numbers -> bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Damage = Callable[[bytes, random.Random], bytes]


def flip(content: bytes, rng: random.Random) -> bytes:
    """Flip one bit, or a few."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 3, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_byte(content: bytes, rng: random.Random) -> bytes:
    """Replace one byte."""
    at = rng.randrange(len(content) + 1)
    return content[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) + content[at + 1 :]


def cut(content: bytes, rng: random.Random) -> bytes:
    """End too early."""
    return content[: rng.randrange(len(content) + 1)]


def remove(content: bytes, rng: random.Random) -> bytes:
    """Take some bytes out."""
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[min(end, start + 40) :]


def insert(content: bytes, rng: random.Random) -> bytes:
    """Put some bytes in."""
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.randbytes(rng.choice((1, 2, 8, 300))) + content[at:]


def repeat(content: bytes, rng: random.Random) -> bytes:
    """Say a part again, once or fifty times."""
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[start:end] * rng.choice((1, 2, 50)) + content[end:]


ANY: tuple[Damage, ...] = (flip, flip, flip, set_byte, cut, remove, insert, repeat)
