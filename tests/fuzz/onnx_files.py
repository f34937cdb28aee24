"""ONNX files with something wrong, each made from numbers alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from google.protobuf.message import EncodeError

from tests.fuzz import damage
from tests.fuzz.graphs import SEEDS, WEIGHTS
from tests.fuzz.names import NOT_UTF8
from tests.fuzz.onnx_changes import CHANGES, nodes, texts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import onnx

    Step = tuple[int, int]

SECRET = b"this lies outside of the model's folder"


def write(number: int, folder: Path) -> Path:
    """Write model number `number`, one of every kind, with what belongs beside it."""
    rng = random.Random(number)  # noqa: S311 - to be repeated
    model = rng.choice(SEEDS)()
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3)) if number else 0):
        if nodes(model):
            rng.choice(CHANGES)(model, rng)
    content = serialised(model, folder)
    if number and rng.random() < 0.2:
        for _ in range(rng.choice((1, 1, 2, 4))):
            content = rng.choice(DAMAGES)(content, rng)
    return place(content, folder)


def write_made(
    model: onnx.ModelProto, changes: Iterable[Step], damages: Iterable[Step], folder: Path
) -> Path:
    """Write `model` after changes of the message and damage to its bytes."""
    for kind, number in changes:
        if nodes(model):
            CHANGES[kind](model, random.Random(number))  # noqa: S311 - to be repeated
    content = serialised(model, folder)
    for kind, number in damages:
        content = DAMAGES[kind](content, random.Random(number))  # noqa: S311
    return place(content, folder)


def place(content: bytes, folder: Path) -> Path:
    """Write an ONNX file with what belongs beside it; returns its path.

    Above `folder` lies a file with SECRET, which no model may reach.
    """
    folder.mkdir(parents=True)
    (folder.parent / "secret.bin").write_bytes(SECRET * 20)
    (folder / "weights.bin").write_bytes(WEIGHTS.tobytes())
    (folder / "link.bin").symlink_to("../secret.bin")
    path = folder / "model.onnx"
    # The same length, so that the file stays a message.
    path.write_bytes(
        content.replace(NOT_UTF8.encode(), b"\xff\xfe\xc0\x80\xed\xa0\x80\xf5~~")
    )
    return path


def serialised(model: onnx.ModelProto, folder: Path) -> bytes:
    """Return the file's bytes; a text may speak of what lies outside of `folder`."""
    for message, field in texts(model):
        text = getattr(message, field.name)
        if isinstance(text, str) and "{outside}" in text:
            setattr(message, field.name, text.replace("{outside}", str(folder.parent)))
    return _serialised(model)


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
            content = tag + varint(len(content)) + content
    return content


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


DAMAGES = (*damage.ANY, _splice, _nest)
