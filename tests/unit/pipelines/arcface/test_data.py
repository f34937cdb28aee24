from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_samples_have_the_names_shapes_and_dtypes_of_the_manifest(
    arcface: Callable[[str], Any],
) -> None:
    samples = list(arcface("data").face_samples())

    assert len(samples) >= 8
    assert len({sample["id"] for sample in samples}) == len(samples)
    for sample in samples:
        (image,) = sample["feeds"].values()
        assert (image.dtype, image.shape) == (np.float32, (1, 3, 112, 112))
        assert image.flags.c_contiguous


def test_no_two_crops_are_the_same(arcface: Callable[[str], Any]) -> None:
    images = arcface("data").images()

    assert len({image.tobytes() for image in images}) == len(images)


def test_every_grey_level_is_normalised_as_arcface_says(
    arcface: Callable[[str], Any],
) -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 256, 1)
    exact = (np.arange(256) / 255 - 0.5) / 0.5  # in float64
    found = arcface("data").normalise(levels)[0, 0].astype(np.float64)

    # Three steps in float32, each rounding a number of at most 1 by 2 ** -25; twice that
    # after the last division.
    assert np.abs(found - exact).max() <= 2**-23
    assert (found[0], found[255]) == (-1, 1)


def test_red_green_and_blue_keep_their_order(
    arcface: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, png = arcface("data"), arcface("png")
    image = np.zeros((112, 112, 3), np.uint8)
    image[5, 7] = 255, 51, 0
    png.write(tmp_path / "one.png", image)
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    (sample,) = data.face_samples()

    pixel = sample["feeds"]["image"][0, :, 5, 7]
    assert pixel.tolist() == pytest.approx([1.0, -0.6, -1.0], abs=1e-6)


def test_the_faces_are_in_colour_and_redder_than_blue(
    arcface: Callable[[str], Any],
) -> None:
    for path in arcface("data").crops():
        image = arcface("png").read(path)
        red, _, blue = image.reshape(-1, 3).mean(axis=0)
        assert image.shape == (112, 112, 3)
        assert red == blue if path.stem.startswith("camera") else red > blue


def test_each_photograph_is_named_with_its_licence_in_the_readme(
    arcface: Callable[[str], Any],
) -> None:
    folder = arcface("data").FOLDER
    readme = (folder.parent / "README.md").read_text(encoding="utf-8")
    rows = {
        line.split("`")[1]: line for line in readme.splitlines() if line.startswith("| `")
    }
    names = {path.stem.rpartition("-")[0] for path in arcface("data").crops()}

    assert names <= rows.keys()
    for name in names:
        assert "CC0" in rows[name] or "public domain" in rows[name]


def test_without_crops_the_script_that_makes_them_is_named(
    arcface: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arcface("data"), "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"make_crops\.py"):
        list(arcface("data").face_samples())
