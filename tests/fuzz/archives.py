"""Samples in .npz files with something wrong, each made from its number alone."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from ascendflow.tensors import TensorSet
from tests.fuzz import damage, journey
from tests.fuzz.names import NAMES, NOT_UTF8
from tests.fuzz.onnx_files import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MANIFEST = """\
schema_version: 1
model: net
source: {onnx: net.onnx}
inputs:
  - {name: image, dtype: float32, shape: [1, 3, 2, 2]}
  - {name: ids, dtype: int64, shape: [4]}
samples: {files: "inputs/**/*.npz"}
convert: {backend: emulator, cann: "8.1", soc_version: Ascend310P3}
"""
MARK = "unpickled"
HUGE = ((1 << 62,), (1 << 40, 1), (1 << 31, 1 << 31), (-1, 4), (0,), (1 << 63,), ("a",))

Member = tuple[str, bytes]


class Trap:
    """Leaves a mark beside the archive when it is unpickled."""

    def __reduce__(self) -> Any:
        return (open, (MARK, "w"))


def read(number: int, folder: Path, enter: Callable[[str], None]) -> journey.Verdict:
    """Write sample file number `number` into a repository, and run the samples stage."""
    from ascendflow.manifest.load import load_manifest

    repository = folder / "repository"
    pipeline = repository / "pipelines" / "net"
    (pipeline / "inputs").mkdir(parents=True)
    (folder / "secret.bin").write_bytes(SECRET)
    (pipeline / "net.onnx").touch()
    (pipeline / "manifest.yaml").write_text(MANIFEST)
    rng = random.Random(number)  # noqa: S311 - to be repeated
    name = rng.choice(("s", "s", "s", "-n", "a b", "a\nb", "\x1b[31m", "=;:,", "\udcff"))
    (pipeline / "inputs" / f"{name}.npz").write_bytes(mutated(number))
    path = pipeline / "manifest.yaml"
    loaded = load_manifest(path, repository=repository, roots={})
    verdict = journey.run_stages(loaded, repository, enter=enter, stages=("samples",))
    if verdict.how == "passed":
        return _as_numpy_reads_it(number, repository / "build/net/samples/samples")
    return verdict


def _as_numpy_reads_it(number: int, written: Path) -> journey.Verdict:
    """Hold what the stage wrote to what numpy reads from the members themselves."""
    arrays: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(io.BytesIO(mutated(number))) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                arrays[name.removesuffix(".npy")] = npy.read_array(member)
    folders = {"feeds": written / "feeds", "labels": written / "labels"}
    found = {kind: TensorSet(folder).sample(0) for kind, folder in folders.items()}
    tensors = {**found["feeds"], **{f"label.{k}": v for k, v in found["labels"].items()}}
    same = tensors.keys() == arrays.keys() and all(
        tensor.dtype.name == arrays[name].dtype.name
        and np.array_equal(tensor, arrays[name])
        for name, tensor in tensors.items()
    )
    if not same:
        return journey.Verdict("bug", "samples", f"wrote {tensors}, the file has {arrays}")
    return journey.Verdict("passed")


def mutated(number: int) -> bytes:
    """Return mutated sample file number `number`; the same for the same number."""
    rng = random.Random(number)  # noqa: S311 - to be repeated
    members = [("image.npy", _npy(_image())), ("ids.npy", _npy(np.arange(4)))]
    if number == 0:
        return _zip(members, zipfile.ZIP_STORED)
    how = rng.choice(("member", "member", "member", "archive", "bytes", "none"))
    if how == "member":
        at = rng.randrange(len(members))
        members[at] = (members[at][0], _member(rng, members[at][1]))
    elif how == "archive":
        members = _members(rng, members)
    compression = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    content = _zip(members, compression)
    if how == "none":
        return rng.choice(
            (b"", b"PK\x05\x06" + bytes(18), _npy(_image()), rng.randbytes(99))
        )
    if how == "bytes" or rng.random() < 0.15:
        for _ in range(rng.choice((1, 1, 3))):
            content = rng.choice(DAMAGES)(content, rng)
    return content


def _image() -> np.ndarray:
    return np.random.default_rng(0).random((1, 3, 2, 2), dtype=np.float32)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def _zip(members: list[Member], compression: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name) if compression == 0 else name, content)
    return stream.getvalue()


def _member(rng: random.Random, content: bytes) -> bytes:
    """Make another .npy file of one."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    how = rng.choice(("array", "array", "header", "header", "bytes", "pickle"))
    if how == "array":
        return _npy(_array(rng, array))
    if how == "header":
        return _with_header(rng, content, array)
    if how == "pickle":
        held = rng.choice((np.array([Trap()], object), np.array([None, Trap()], object)))
        return _npy(held)
    return rng.choice(DAMAGES)(content, rng)


def _array(  # noqa: PLR0911 - a list of what may be odd
    rng: random.Random, array: np.ndarray
) -> np.ndarray:
    """Give it another order, byte order, dtype, shape or value."""
    how = rng.choice(("fortran", "big", "dtype", "shape", "value", "empty", "strided"))
    if how == "fortran":
        return np.asfortranarray(array)
    if how == "big":
        return array.astype(array.dtype.newbyteorder(">"))
    if how == "dtype":
        names = ("f8", "f2", "i4", "u1", "?", "c8", "S3", "U2", "M8[s]", "m8[D]", "V5", "g")
        kinds: tuple[Any, ...] = (*names, [("a", "f4"), ("b", "i8")])
        return np.zeros(array.shape, rng.choice(kinds))
    if how == "shape":
        return array.reshape(rng.choice(((-1,), (1, *array.shape), (*array.shape, 1))))
    if how == "empty":
        return array[:0]
    if how == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if array.dtype.kind == "f":
        array.flat[0] = rng.choice((np.nan, np.inf, -np.inf, 1e-45, 3e38))
    else:
        array.flat[0] = rng.choice((-(1 << 63), (1 << 63) - 1))
    return array


def _with_header(rng: random.Random, content: bytes, array: np.ndarray) -> bytes:
    """Let the header say something else than the bytes that follow."""
    shape: Any = array.shape
    said: dict[Any, Any] = {
        "descr": array.dtype.str,
        "fortran_order": False,
        "shape": shape,
    }
    key = rng.choice(("shape", "shape", "descr", "fortran_order", "text", "more", "length"))
    if key == "shape":
        said["shape"] = rng.choice((*HUGE, (*shape, 0), (3.5,), "x", None, 7))
    elif key == "descr":
        descriptions: tuple[Any, ...] = (
            "|O",
            ">f4",
            "<f16",
            "nope",
            "",
            7,
            None,
            [],
            [("a", "<f4")],
            "<U99999999",
        )
        said["descr"] = rng.choice(descriptions)
    elif key == "fortran_order":
        said["fortran_order"] = rng.choice((True, 1, "no"))
    elif key == "more":
        said[rng.choice(("x", "", 7))] = 1
    text = repr(said)
    if key == "text":
        words = ("__import__('os')", "{", "[" * 500, "{}" * 99, "1" * 9000, "\xff", "")
        text = rng.choice(words)
    header = text.encode("latin-1") + b" " * 16 + b"\n"
    length = rng.choice((len(header), 0, 65535)) if key == "length" else len(header)
    version = rng.choice((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    packed = struct.pack("<H" if version == b"\x01\x00" else "<I", min(length, 65535))
    return npy.MAGIC_PREFIX + version + packed + header + content[-array.nbytes :]


def _members(  # noqa: PLR0911 - a list of what may be odd
    rng: random.Random, members: list[Member]
) -> list[Member]:
    """Change which members there are and what they are called."""
    how = rng.choice(("name", "name", "double", "drop", "add", "label", "bomb", "bare"))
    image, ids = members
    if how == "name":
        return [(f"{_zip_name(rng)}.npy", image[1]), ids]
    if how == "double":
        return [image, ids, (image[0], ids[1])]
    if how == "drop":
        return rng.choice(([image], [ids], []))
    if how == "add":
        return [image, ids, (f"{_zip_name(rng)}.npy", rng.choice((b"", image[1])))]
    if how == "label":
        return [image, ids, (f"label.{_zip_name(rng)}.npy", image[1])]
    if how == "bare":
        return [image, ids, (_zip_name(rng), rng.choice((b"text", b"", ids[1])))]
    zeros = npy.MAGIC_PREFIX + b"\x01\x00"
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 600, 600)}\n"
    zeros += struct.pack("<H", len(header)) + header + bytes(4_320_000)
    return [("image.npy", zeros), ids]


def _zip_name(rng: random.Random) -> str:
    names = [name for name in NAMES if name and NOT_UTF8 not in name]
    return rng.choice(
        (*names, "../../../outside", "/outside/x", "image", "file", "allow_pickle")
    )


def _declare(content: bytes, rng: random.Random) -> bytes:
    """Set one number of the archive's own tables: sizes, offsets, flags, methods."""
    signature = rng.choice((b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"))
    at = content.find(signature)
    if at < 0:
        return content
    at += rng.randrange(4, 40)
    number = rng.choice((0, 1, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF))
    packed = number.to_bytes(4, "little")[: rng.choice((1, 2, 4))]
    return content[:at] + packed + content[at + len(packed) :]


DAMAGES = (*damage.ANY, _declare, _declare, _declare, _declare)
