from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.backends.emulator import artifact
from ascendflow.backends.emulator.backend import Emulator
from ascendflow.errors import StageError
from tests.emulation import convert, target
from tests.models import F32, model, node, resize_chain

if TYPE_CHECKING:
    from pathlib import Path


def made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    convert(resize_chain("half_pixel"), folder)
    return folder / "model"


def test_equal_models_give_equal_bytes(tmp_path: Path) -> None:
    first, second = made(tmp_path / "a"), made(tmp_path / "b")

    assert [path.name for path in first.iterdir()] == ["model.emu"]
    assert (first / "model.emu").read_bytes() == (second / "model.emu").read_bytes()


def test_an_artifact_names_itself_and_never_begins_like_an_om(tmp_path: Path) -> None:
    folder = made(tmp_path)

    content = (folder / "model.emu").read_bytes()
    header, _ = artifact.read(folder)

    assert content.startswith(b"ASCENDFLOW-EMU\0")
    assert not content.startswith(b"IMOD")
    assert header["target"]["soc_version"] == "Ascend310P3"
    assert header["tensors"]["u14"] == "float32"


@pytest.mark.parametrize("kept", [0, 10, 20, 40, 200, -1])
def test_a_cut_file_is_refused(kept: int, tmp_path: Path) -> None:
    path = made(tmp_path) / "model.emu"
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(StageError, match=r"cut short|no emulator artifact"):
        artifact.read(path.parent)


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path) / "model.emu"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)

    with pytest.raises(StageError, match="damaged: its graph hashes to"):
        artifact.read(path.parent)


def test_another_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    path = made(tmp_path) / "model.emu"
    content = bytearray(path.read_bytes())
    content[15] = 9
    path.write_bytes(content)

    with pytest.raises(StageError, match="has format 9, this ascendflow reads 2"):
        artifact.read(path.parent)


def test_an_om_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "om").mkdir()
    (tmp_path / "om" / "model.emu").write_bytes(b"IMOD" + bytes(300))

    with pytest.raises(StageError, match="no emulator artifact: it begins with b'IMOD"):
        artifact.read(tmp_path / "om")
    with pytest.raises(StageError, match=r"model.emu is missing from the folder"):
        artifact.read(tmp_path)


def test_large_weights_lie_beside_the_file_and_are_rounded_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = np.random.default_rng(0).standard_normal((64, 64)).astype(F32)
    proto = model([node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])], [("y", [1, 64])],
                  {"w": w})  # fmt: skip
    x = {"x": np.eye(64, dtype=F32)[:1]}
    (tmp_path / "embedded").mkdir()
    convert(proto, tmp_path / "embedded")
    monkeypatch.setattr(artifact, "EMBEDDED_BYTES", 1000)
    (tmp_path / "beside").mkdir()
    convert(proto, tmp_path / "beside")

    folder = tmp_path / "beside" / "model"
    (y,) = Emulator().infer(folder, [x], threads=1)
    tensors = dict(Emulator().dump(folder, x, threads=1))
    (embedded,) = Emulator().infer(tmp_path / "embedded" / "model", [x], threads=1)

    assert sorted(path.name for path in folder.iterdir()) == ["model.emu", "model.emu.data"]
    np.testing.assert_array_equal(y["y"], w[:1].astype(np.float16).astype(F32))
    np.testing.assert_array_equal(y["y"], embedded["y"])
    np.testing.assert_array_equal(y["y"], tensors["y"])


def test_missing_or_damaged_weights_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact, "EMBEDDED_BYTES", 1000)
    w = np.ones((64, 64), F32)
    proto = model([node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])], [("y", [1, 64])],
                  {"w": w})  # fmt: skip
    convert(proto, tmp_path)
    weights = tmp_path / "model" / "model.emu.data"
    content = weights.read_bytes()
    for damaged, message in (
        (content[:-1], "is cut short: 16383 bytes of weights, header says 16384"),
        (content[:-1] + b"!", "is damaged: its weights hash"),
        (None, "is missing beside model.emu"),
    ):
        weights.unlink() if damaged is None else weights.write_bytes(damaged)
        with pytest.raises(StageError, match=rf"model.emu.data {message}"):
            list(Emulator().infer(tmp_path / "model", [{"x": w[:1]}], threads=1))


def test_weights_beside_the_onnx_file_are_read_and_rounded(tmp_path: Path) -> None:
    w = np.random.default_rng(0).standard_normal((64, 64)).astype(F32)
    proto = model([node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])], [("y", [1, 64])],
                  {"w": w})  # fmt: skip
    source = tmp_path / "model.onnx"
    onnx.save(
        proto,
        source,
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=0,
    )
    x = {"x": np.eye(64, dtype=F32)[:1]}

    Emulator().compile(source, tmp_path / "model", target())
    (y,) = Emulator().infer(tmp_path / "model", [x], threads=1)

    np.testing.assert_array_equal(y["y"], w[:1].astype(np.float16).astype(F32))
