"""Both sides see one picture: the device its bytes, ONNX what AIPP makes of them (IO01)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import StageError
from ascendflow.stages.pictures import Pictures, has_pictures, with_pictures
from ascendflow.tensors import TensorSet, TensorSpec
from tests.exported_models import model, node, value
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path

X, SCALE = TensorSpec("x", "float32", (1, 3, 4, 4)), TensorSpec("s", "float32", ())
AIPP: dict[str, Any] = {
    "x": {
        "input_format": "RGB888_U8",
        "mean": [123.675, 116.28, 103.53],
        "scale": [0.0171247538, 0.0175070028, 0.0174291938],
    }
}


def sampled(tmp_path: Path, array: np.ndarray) -> Pipeline:
    made = pipeline(tmp_path, [X])
    (made.folder / "inputs").mkdir(parents=True)
    np.savez(made.folder / "inputs" / "a.npz", x=array)
    made.run("samples", samples={"files": "inputs/*.npz"}, aipp=AIPP)
    return made


def test_published_case_from_the_picture_to_the_golden(
    shared: Path, tmp_path: Path
) -> None:
    """IO01."""
    folder = shared / "cases" / "IO01"
    raw = np.load(folder / "img_uint8_nhwc.npy")
    made = sampled(tmp_path, raw)
    mean = node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=0)
    made.ingest(model([mean], [value("x", [1, 3, 4, 4])], [value("y", [1, 3])]))
    made.golden()

    golden = TensorSet(made.made("golden") / "onnx").load(0, "y")
    assert np.abs(golden - np.load(folder / "expected.npy")).max() < 1e-6
    samples = made.made("samples")
    (fed,) = with_pictures(samples, iter(TensorSet(samples / "feeds")))
    assert (fed["x"].dtype.name, fed["x"].nbytes) == ("uint8", 48)
    assert np.array_equal(fed["x"], raw)


def test_prepared_tensor_is_no_picture(tmp_path: Path) -> None:
    """IO01: reject what is normalised already; the device would do it again."""
    with pytest.raises(StageError) as caught:
        sampled(tmp_path, np.zeros((1, 3, 4, 4), np.float32))

    assert "input 'x' is float32, must be uint8: want 48 bytes uint8, got 192" in (
        caught.value.message
    )
    assert "input 'x' has shape [1, 3, 4, 4], want [1, 4, 4, 3]" in caught.value.message


def test_random_pictures_are_bytes(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [X, SCALE])
    made.run("samples", samples={"random": {"seed": 0, "count": 3}}, aipp=AIPP)

    pictures = TensorSet(made.made("samples") / "pictures")
    assert [each.name for each in pictures.specs(0)] == ["x"]
    drawn = np.concatenate([each["x"].ravel() for each in pictures])
    assert drawn.min() < 20
    assert drawn.max() > 235
    feeds = TensorSet(made.made("samples") / "feeds")
    assert [(each.dtype, each.shape) for each in feeds.specs(0)] == [
        ("float32", (1, 3, 4, 4)),
        ("float32", ()),
    ]


def test_without_aipp_there_are_no_pictures(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [X])
    made.run("samples", samples={"random": {"seed": 0, "count": 1}})
    samples = made.made("samples")

    assert not has_pictures(samples)
    (fed,) = with_pictures(samples, iter(TensorSet(samples / "feeds")))
    assert fed["x"].dtype == np.float32


def test_half_inputs_are_made_in_half() -> None:
    spec = TensorSpec("x", "float16", (1, 3, 4, 4))
    fed = {"x": np.full((1, 4, 4, 3), 200, np.uint8)}

    made = Pictures(AIPP, [spec]).prepared(fed)["x"]

    assert made.dtype == np.float16
    wanted = np.float16((200 - 123.675) * 0.0171247538)
    assert made[0, 0, 0, 0] == wanted


def test_shapes_of_gears_are_those_of_pictures() -> None:
    gears = [{"x": [1, 3, 4, 8], "s": []}, {"x": [1, 3, 8, 16], "s": []}]
    four = {"x": {"input_format": "XRGB8888_U8"}}

    assert Pictures(four, [X, SCALE]).shapes(gears) == [
        {"x": [1, 4, 8, 4], "s": []},
        {"x": [1, 8, 16, 4], "s": []},
    ]
    larger = {"x": {"input_format": "RGB888_U8", "src_image_size": [40, 80]}}
    assert Pictures(larger, [X]).fed == (TensorSpec("x", "uint8", (1, 40, 80, 3)),)
