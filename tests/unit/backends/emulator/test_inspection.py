"""What is told of an emulator's artifact: never that it is an OM."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.backends.emulator import artifact
from ascendflow.backends.emulator.inspection import inspect_emulated
from ascendflow.errors import StageError
from tests.emulation import convert
from tests.models import F32, model, node, resize_chain

if TYPE_CHECKING:
    from pathlib import Path


def test_target_graph_and_ends_are_told(tmp_path: Path) -> None:
    convert(resize_chain("half_pixel"), tmp_path)
    path = tmp_path / "model" / "model.emu"

    found = inspect_emulated(path.parent)

    assert found["kind"] == "emulated"
    assert (found["om"], found["onnx"], found["normalised_sha256"]) == (None, None, None)
    assert found["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["emulated"] is not None
    assert found["emulated"]["soc_version"] == "Ascend310P3"
    assert found["emulated"]["precision_mode"] == "force_fp16"
    assert found["emulated"]["cann"] == "8.1"
    assert found["emulated"]["behaviour"] is None
    assert not found["emulated"]["alternative"]
    assert found["emulated"]["graph"]["operators"]["Resize"] > 0
    assert [each["name"] for each in found["inputs"]] == ["x"]


def test_weights_beside_it_are_counted_and_checked(tmp_path: Path) -> None:
    weights = {"w": np.ones((1024, 512), F32)}
    proto = model(
        [node("MatMul", ["x", "w"], ["y"])], [("x", [1, 1024])], [("y", [1, 512])], weights
    )
    convert(proto, tmp_path)
    folder = tmp_path / "model"

    found = inspect_emulated(folder, digests=False)
    assert found["sha256"] is None
    assert found["emulated"] is not None
    assert found["emulated"]["weights_bytes"] == (folder / artifact.WEIGHTS).stat().st_size

    with (folder / artifact.WEIGHTS).open("r+b") as file:
        file.write(b"\xff")
    with pytest.raises(StageError, match="damaged"):
        inspect_emulated(folder)


def written(folder: Path, header: bytes, graph: bytes = b"") -> Path:
    start = artifact.MAGIC + struct.pack("<IQ", artifact.FORMAT, len(header))
    (folder / artifact.FILE).write_bytes(start + header + graph)
    return folder


def described(graph: bytes) -> dict[str, object]:
    digest = hashlib.sha256(graph).hexdigest()
    return {"onnx": {"size": len(graph), "sha256": digest}, "weights": None}


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"{", id="no-json"),
        pytest.param(b"\xff", id="no-text"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"[]", id="no-object"),
        pytest.param(b"{}", id="empty"),
        pytest.param(json.dumps(described(b"")).encode(), id="no-target"),
    ],
)
def test_a_header_of_anything_is_told_as_damaged(tmp_path: Path, header: bytes) -> None:
    with pytest.raises(StageError, match="its header or graph is damaged"):
        inspect_emulated(written(tmp_path, header))


def test_a_graph_that_is_none_is_told_as_damaged(tmp_path: Path) -> None:
    graph = b"\xff\xff"
    target = {"cann": "8.1", "soc_version": "x", "precision_mode": "y"}
    header = {**described(graph), "emulator": 1, "target": target}

    with pytest.raises(StageError, match="its header or graph is damaged"):
        inspect_emulated(written(tmp_path, json.dumps(header).encode(), graph))


def test_a_huge_artifact_is_refused_without_being_read(tmp_path: Path) -> None:
    written(tmp_path, b"{}")
    os.truncate(tmp_path / artifact.FILE, 1 << 40)

    with pytest.raises(StageError, match="less than 2 GiB"):
        inspect_emulated(tmp_path)
