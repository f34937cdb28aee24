from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.external_data import byte_size, dead_references
from ascendflow.graph.files import DATA_FILE
from ascendflow.graph.ingest import accept, check, read_model
from ascendflow.graph.run import OnnxModel
from tests import exported_models as models
from tests.exported_models import save_with_external_data, say_external, x_of

if TYPE_CHECKING:
    from pathlib import Path

ONES = np.ones((1, 64), np.float32)


def refusal(path: Path) -> str:
    with pytest.raises(StageError) as caught:
        read_model(path)
    return caught.value.message


def rewritten(path: Path, target: Path, embed_limit: int) -> Path:
    proto = read_model(path)
    accept(proto, path.name, x_of(1, 64), None)
    canonicalise(proto)
    return save(proto, target, path.parent, embed_limit=embed_limit)


def test_missing_weights_file_is_refused_naming_tensor_and_file(tmp_path: Path) -> None:
    """GR25."""
    path = save_with_external_data(models.matmul(), tmp_path)
    (tmp_path / "weights.bin").unlink()

    assert "tensor 'w'" in refusal(path)
    assert "'weights.bin' does not exist beside the ONNX file" in refusal(path)
    with pytest.raises(StageError, match="hint: put the whole file that holds the weights"):
        read_model(path)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        pytest.param("../../outside.bin", "leaves the folder", id="dotdot"),
        pytest.param("a/../../outside.bin", "leaves the folder", id="inner-dotdot"),
        pytest.param("..\\outside.bin", "leaves the folder", id="backslash"),
        pytest.param("/etc/hostname", "is an absolute path", id="absolute"),
        pytest.param("C:\\w.bin", "is an absolute path", id="drive"),
        pytest.param("", "has no location", id="empty"),
        pytest.param("w.bin\0", "is no file's name", id="nul"),
        pytest.param("w\n.bin", "is no file's name", id="newline"),
        pytest.param("w" * 3000, "does not exist", id="too-long"),
        pytest.param("link.bin", "is a link that leaves the folder", id="link"),
    ],
)
def test_location_outside_the_folder_is_refused(
    location: str, said: str, tmp_path: Path
) -> None:
    """GR26."""
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside.bin").write_bytes(bytes(64 * 64 * 4))
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    proto = models.matmul()
    say_external(proto, location=location, offset="0", length=str(64 * 64 * 4))
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    message = refusal(folder / "model.onnx")

    assert "tensor 'w'" in message
    assert said in message


def test_location_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    proto = models.matmul()
    say_external(proto, location="NNNN", offset="0", length="16384")
    content = proto.SerializeToString().replace(b"NNNN", b"\xff\xfe\xc0\x80")
    held = onnx.ModelProto.FromString(content)

    (said,) = dead_references(held, tmp_path)

    assert "tensor 'w'" in said.message
    assert "is no file's name" in said.message


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        pytest.param(
            {"offset": "4"}, "bytes 4 to 16388 are wanted, the file has 16384", id="end"
        ),
        pytest.param(
            {"length": "8"}, "length 8, but dtype and dims need 16384", id="length"
        ),
        pytest.param({"offset": "-4"}, "is no number of bytes", id="negative"),
        pytest.param({"offset": "0x10"}, "is no number of bytes", id="hexadecimal"),
    ],
)
def test_bytes_that_the_file_does_not_hold_are_refused(
    entries: dict[str, str], said: str, tmp_path: Path
) -> None:
    """GR25."""
    proto = models.matmul()
    (tmp_path / "w.bin").write_bytes(bytes(64 * 64 * 4))
    say_external(proto, location="w.bin", **entries)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())

    assert said in refusal(tmp_path / "model.onnx")


def test_small_weights_end_up_inside_the_model(tmp_path: Path) -> None:
    path = save_with_external_data(models.matmul(), tmp_path / "in")
    written = rewritten(path, tmp_path / "out", embed_limit=2**20)

    assert [p.name for p in written.parent.iterdir()] == ["model.onnx"]
    expected = OnnxModel(path).run({"x": ONES})["y"]
    np.testing.assert_array_equal(OnnxModel(written).run({"x": ONES})["y"], expected)


@pytest.mark.parametrize("external", [True, False], ids=["from-external", "from-embedded"])
def test_large_weights_end_up_beside_the_model(external: bool, tmp_path: Path) -> None:
    """GR29."""
    source = models.matmul()
    path = tmp_path / "in" / "model.onnx"
    if external:
        save_with_external_data(source, path.parent)
    else:
        path.parent.mkdir()
        onnx.save(source, path)
    written = rewritten(path, tmp_path / "out", embed_limit=1024)
    check(written, "model.onnx")

    assert sorted(p.name for p in written.parent.iterdir()) == ["model.onnx", DATA_FILE]
    assert written.stat().st_size < 1024
    expected = OnnxModel(path).run({"x": ONES})["y"]
    np.testing.assert_array_equal(OnnxModel(written).run({"x": ONES})["y"], expected)


def test_two_models_that_differ_in_weights_alone_are_written_differently(
    tmp_path: Path,
) -> None:
    """GR25."""
    first = save_with_external_data(models.matmul(seed=1), tmp_path / "v1")
    second = save_with_external_data(models.matmul(seed=2), tmp_path / "v2")
    written = [
        rewritten(path, tmp_path / f"out{number}", embed_limit=2**20).read_bytes()
        for number, path in enumerate((first, second))
    ]

    assert first.read_bytes() == second.read_bytes()
    assert written[0] != written[1]


def test_typed_fields_are_gathered_like_raw_bytes(tmp_path: Path) -> None:
    proto = models.matmul()
    weight = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    typed = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [64, 64], weight.ravel())
    proto.graph.initializer[0].CopyFrom(typed)
    canonicalise(proto)
    written = save(proto, tmp_path / "out", tmp_path, embed_limit=1024)

    expected = (ONES @ weight).astype(np.float32)
    found = OnnxModel(written).run({"x": ONES})["y"]
    # Summation order is onnxruntime's: 64 products of size ~1 in float32.
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("data_type", "size"),
    [
        pytest.param(onnx.TensorProto.INT4, 3, id="int4-rounds-up"),
        pytest.param(onnx.TensorProto.BFLOAT16, 10, id="bfloat16"),
        pytest.param(onnx.TensorProto.STRING, 0, id="string"),
    ],
)
def test_byte_size_counts_packed_bits(data_type: int, size: int) -> None:
    assert byte_size(onnx.TensorProto(data_type=data_type, dims=[5])) == size


def test_unknown_data_type_is_refused() -> None:
    with pytest.raises(StageError, match="unknown data type 99"):
        byte_size(onnx.TensorProto(name="w", data_type=99, dims=[5]))
