from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.pngs import GREY, RGB, png

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_rows_of_each_filter_are_undone(pan: Callable[[str], Any], tmp_path: Path) -> None:
    rows = [bytes([0, 10, 20, 250]), bytes([1, 5, 255, 10]), bytes([2, 255, 1, 250])]
    image = pan("photos").read(png(tmp_path / "grey.png", rows, 3, colour=GREY))
    assert image[..., 0].tolist() == [[10, 20, 250], [5, 4, 14], [4, 5, 8]]


def test_differences_of_a_colour_run_per_channel(
    pan: Callable[[str], Any], tmp_path: Path
) -> None:
    rows = [bytes([1, 1, 2, 3, 10, 20, 30])]
    image = pan("photos").read(png(tmp_path / "rgb.png", rows, 2, colour=RGB))
    assert image.tolist() == [[[1, 2, 3], [11, 22, 33]]]


@pytest.mark.parametrize("channels", [1, 3])
def test_what_is_written_is_read_back(
    pan: Callable[[str], Any], tmp_path: Path, channels: int
) -> None:
    image = np.random.default_rng(0).integers(0, 256, (7, 9, channels), dtype=np.uint8)
    pan("photos").write(tmp_path / "image.png", image)
    assert np.array_equal(pan("photos").read(tmp_path / "image.png"), image)


def test_another_filter_is_refused_by_name_and_row(
    pan: Callable[[str], Any], tmp_path: Path
) -> None:
    path = png(tmp_path / "paeth.png", [bytes([0, 1]), bytes([4, 1])], 1, colour=GREY)
    with pytest.raises(ValueError, match=r"paeth.png: row 1 has PNG filter 4"):
        pan("photos").read(path)


def test_another_depth_is_refused(pan: Callable[[str], Any], tmp_path: Path) -> None:
    path = png(tmp_path / "deep.png", [bytes([0, 1, 1])], 1, colour=GREY, depth=16)
    with pytest.raises(ValueError, match=r"deep.png: 8-bit .* found depth 16"):
        pan("photos").read(path)


def test_a_damaged_file_is_refused(pan: Callable[[str], Any], tmp_path: Path) -> None:
    path = png(tmp_path / "damaged.png", [bytes([0, 1])], 1, colour=GREY)
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checksum of chunk b'IHDR' is wrong"):
        pan("photos").read(path)


def test_a_file_of_another_kind_is_refused(
    pan: Callable[[str], Any], tmp_path: Path
) -> None:
    (tmp_path / "photo.png").write_bytes(b"\xff\xd8\xff\xe0 a jpeg")
    with pytest.raises(ValueError, match="not a PNG file"):
        pan("photos").read(tmp_path / "photo.png")


def test_train_and_test_share_no_photograph(pan: Callable[[str], Any]) -> None:
    folder = pan("photos").FOLDER
    train, test = ({p.name for p in (folder / s).glob("*.png")} for s in ("train", "test"))
    assert train
    assert test
    assert not train & test


def test_each_photograph_is_named_in_the_readme(pan: Callable[[str], Any]) -> None:
    folder = pan("photos").FOLDER
    readme = (folder.parent / "README.md").read_text(encoding="utf-8")
    missing = [p.name for p in folder.rglob("*.png") if f"`{p.stem}`" not in readme]
    assert not missing


def test_a_missing_split_is_refused_with_a_hint(pan: Callable[[str], Any]) -> None:
    with pytest.raises(FileNotFoundError, match=r"make_photos\.py"):
        pan("photos").load("validation")
