from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.pngs import GREY, RGB, png

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_differences_are_summed_along_the_row_per_channel(
    arcface: Callable[[str], Any], tmp_path: Path
) -> None:
    rows = [bytes([1, 1, 2, 3, 10, 20, 255]), bytes([1, 9, 9, 9, 0, 0, 0])]
    image = arcface("png").read(png(tmp_path / "rgb.png", rows, 2, colour=RGB))

    assert image.tolist() == [[[1, 2, 3], [11, 22, 2]], [[9, 9, 9], [9, 9, 9]]]


def test_what_is_written_is_read_back_here_and_by_pillow(
    arcface: Callable[[str], Any], tmp_path: Path
) -> None:
    image = np.random.default_rng(0).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    path = tmp_path / "image.png"
    arcface("png").write(path, image)

    assert np.array_equal(arcface("png").read(path), image)
    pillow = pytest.importorskip("PIL.Image")
    with pillow.open(io.BytesIO(path.read_bytes())) as opened:
        assert np.array_equal(np.asarray(opened), image)


@pytest.mark.parametrize(
    ("row", "form"),
    [
        pytest.param(bytes([4, 1, 1, 1]), {}, id="filter"),
        pytest.param(bytes([1, 1, 1, 1, 1, 1, 1]), {"depth": 16}, id="depth"),
        pytest.param(bytes([1, 1]), {"colour": GREY}, id="grey"),
    ],
)
def test_another_kind_of_png_is_refused_by_name(
    arcface: Callable[[str], Any], tmp_path: Path, row: bytes, form: dict[str, int]
) -> None:
    path = png(tmp_path / "other.png", [row], 1, **{"colour": RGB, **form})
    with pytest.raises(ValueError, match=r"other.png: not 8-bit RGB with filter 1"):
        arcface("png").read(path)


def test_a_damaged_file_is_refused(arcface: Callable[[str], Any], tmp_path: Path) -> None:
    path = png(tmp_path / "damaged.png", [bytes([1, 1, 1, 1])], 1, colour=RGB)
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged.png: chunk b'IHDR' is damaged"):
        arcface("png").read(path)


def test_a_file_that_ends_early_is_refused(
    arcface: Callable[[str], Any], tmp_path: Path
) -> None:
    path = png(tmp_path / "short.png", [bytes([1, 1, 1, 1])], 1, colour=RGB)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"short.png: "):
        arcface("png").read(path)


def test_a_file_of_another_kind_is_refused(
    arcface: Callable[[str], Any], tmp_path: Path
) -> None:
    (tmp_path / "photo.png").write_bytes(b"\xff\xd8\xff\xe0 a jpeg")
    with pytest.raises(ValueError, match="not a PNG file"):
        arcface("png").read(tmp_path / "photo.png")
