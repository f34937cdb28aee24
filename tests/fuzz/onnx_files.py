"""ONNX files with something wrong, each made from its number alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from google.protobuf.message import EncodeError

from tests.fuzz import damage
from tests.fuzz.graphs import SEEDS, WEIGHTS
from tests.fuzz.names import NOT_UTF8
from tests.fuzz.onnx_changes import CHANGES, nodes, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import onnx

    Seed = Callable[[random.Random], onnx.ModelProto]

SECRET = b"this lies outside of the model's folder"


def write(
    number: int, folder: Path, *, seed: Seed = lambda rng: rng.choice(SEEDS)()
) -> Path:
    """Write model number `number` with what belongs beside it; returns the ONNX file.

    Above `folder` lies a file with SECRET, which no model may reach.
    """
    folder.mkdir(parents=True)
    (folder.parent / "secret.bin").write_bytes(SECRET * 20)
    (folder / "weights.bin").write_bytes(WEIGHTS.tobytes())
    (folder / "link.bin").symlink_to("../secret.bin")
    path = folder / "model.onnx"
    path.write_bytes(_mutated(number, str(folder.parent), seed))
    return path


def _mutated(number: int, outside: str, seed: Seed) -> bytes:
    """Return mutated model number `number`; the same for the same number and seed."""
    rng = random.Random(number)  # noqa: S311 - to be repeated
    model = seed(rng)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3)) if number else 0):
        if nodes(model):
            rng.choice(CHANGES)(model, rng)
    for message, field in texts(model):
        text = getattr(message, field.name)
        if isinstance(text, str) and "{outside}" in text:
            setattr(message, field.name, text.replace("{outside}", outside))
    content = _serialised(model)
    if number and rng.random() < 0.2:
        for _ in range(rng.choice((1, 1, 2, 4))):
            content = rng.choice(DAMAGES)(content, rng)
    # The same length, so that the file stays a message.
    return content.replace(NOT_UTF8.encode(), b"\xff\xfe\xc0\x80\xed\xa0\x80\xf5~~")


def _serialised(model: onnx.ModelProto) -> bytes:
    try:
        return bytes(model.SerializeToString(deterministic=True))
    except (EncodeError, ValueError):  # a required part of a message is missing
        return bytes(model.SerializePartialToString(deterministic=True))


def _splice(content: bytes, rng: random.Random) -> bytes:
    other = _serialised(rng.choice(SEEDS)())
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other)) :]


def _nest(content: bytes, rng: random.Random) -> bytes:
    """Wrap the file as the graph of an attribute of a node of a graph, many times over."""
    for _ in range(rng.choice((3, 30, 200))):
        for tag in (b"\x32", b"\x2a", b"\x0a", b"\x3a"):  # g, attribute, node, graph
            content = tag + _varint(len(content)) + content
    return content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


DAMAGES = (*damage.ANY, _splice, _nest)
