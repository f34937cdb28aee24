"""Linear half_pixel: `resize-half-pixel` and `resize-length-one`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.resizing import AS_ASYMMETRIC, HONOURED
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, resize, run
from tests.resize_kernels import bilinear, picture

if TYPE_CHECKING:
    from pathlib import Path

Kind = dict[str, Any]
OPEN = {**FP32, "cann": "9.1"}
NAME, LENGTH_ONE = "resize-half-pixel", "resize-length-one"

SIZES = [
    pytest.param((4, 6), (8, 12), id="2x"),
    pytest.param((4, 6), (6, 9), id="1.5x"),
    pytest.param((9, 12), (3, 4), id="third"),
    pytest.param((5, 7), (11, 4), id="odd"),
]


def linear(
    shape: tuple[int, ...], sizes: tuple[int, int], mode: str = "half_pixel", **kind: Any
) -> Any:
    kind = {"mode": "linear", "coordinate_transformation_mode": mode, **kind}
    return resize(shape, sizes=[*shape[:2], *sizes], **kind)


@pytest.mark.parametrize(("lengths_in", "lengths_out"), SIZES)
def test_half_pixel_is_sampled_asymmetrically_and_the_rule_cures_it(
    lengths_in: tuple[int, int], lengths_out: tuple[int, int]
) -> None:
    x = picture(*lengths_in)
    proto = linear(x.shape, lengths_out)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **FP32)["y"]
    healed = emulate(cured(proto, NAME), {"x": x}, **FP32)["y"]

    np.testing.assert_allclose(
        y, bilinear(x, *lengths_out, "asymmetric"), rtol=0, atol=3e-6
    )
    assert np.abs(y - golden).max() > 0.2
    assert linted(proto, **FP32) == [("resize", NAME, "silent")]
    # positions are fp32 in both, computed in another order
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
@pytest.mark.parametrize(
    ("sizes", "mode"),
    [
        ((8, 12), "pytorch_half_pixel"),
        ((8, 12), "align_corners"),
        ((8, 12), "asymmetric"),
        ((1, 1), "align_corners"),
        ((4, 6), "half_pixel"),
    ],
)
def test_the_spellings_that_are_read_are_harmless(
    cann: str, sizes: tuple[int, int], mode: str
) -> None:
    proto = linear((1, 2, 4, 6), sizes, mode)
    x = picture(4, 6)

    assert linted(proto, **{**FP32, "cann": cann}) == []
    y = emulate(proto, {"x": x}, **{**FP32, "cann": cann})["y"]
    np.testing.assert_allclose(y, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


def test_from_one_element_everything_reads_the_same() -> None:
    assert linted(linear((1, 2, 1, 1), (3, 5)), **FP32) == []


def test_both_behaviours_of_8_5_and_later_are_compiled_and_run(tmp_path: Path) -> None:
    x = picture(4, 6)
    proto = linear(x.shape, (8, 12))

    document = convert(proto, tmp_path, **OPEN)
    models = Emulator().behaviours(tmp_path / "model")
    found = {
        name: next(iter(Emulator().infer(folder, [{"x": x}], threads=1)))["y"]
        for name, folder in models.items()
    }

    assert linted(proto, **OPEN) == [("resize", NAME, "unknown")]
    entry = document["applied"][0]
    assert (entry["deviation"], entry["nodes"], entry["rule"]) == (NAME, ["resize"], NAME)
    assert entry["behaviours"] == list(models) == [HONOURED, AS_ASYMMETRIC]
    right, wrong = (
        bilinear(x, 8, 12, mode) for mode in ("pytorch_half_pixel", "asymmetric")
    )
    np.testing.assert_allclose(found[HONOURED], right, rtol=0, atol=3e-6)
    np.testing.assert_allclose(found[AS_ASYMMETRIC], wrong, rtol=0, atol=3e-6)


def test_the_rule_leaves_nothing_unknown(tmp_path: Path) -> None:
    proto = cured(linear((1, 2, 4, 6), (8, 12)), NAME)

    document = convert(proto, tmp_path, **OPEN)

    assert list(Emulator().behaviours(tmp_path / "model")) == [""]
    assert [e["deviation"] for e in document["applied"] if e["nodes"]] == []


@pytest.mark.parametrize("sizes", [(1, 6), (4, 1), (1, 1), (1, 12)], ids=str)
@pytest.mark.parametrize(
    ("mode", "flag"),
    [("half_pixel", "asymmetric"), ("pytorch_half_pixel", "pytorch_half_pixel")],
)
def test_length_one_is_another_element_and_the_rule_cures_it(
    mode: str, flag: str, sizes: tuple[int, int]
) -> None:
    """RS02."""
    x = picture(4, 6)
    proto = linear(x.shape, sizes, mode)
    golden = run(proto, {"x": x})["y"]

    y = emulate(proto, {"x": x}, **FP32)["y"]
    healed = emulate(cured(proto, "resize-to-matmul"), {"x": x}, **FP32)["y"]

    np.testing.assert_allclose(y, bilinear(x, *sizes, flag), rtol=0, atol=3e-6)
    assert np.abs(y - golden).max() > 0.1
    assert linted(proto, **FP32) == [("resize", LENGTH_ONE, "silent")]
    np.testing.assert_allclose(healed, golden, rtol=0, atol=3e-6)


def test_length_one_reads_the_centre_where_onnx_reads_index_0() -> None:
    """RS02, as published."""
    x = np.arange(24, dtype=F32).reshape(1, 1, 4, 6)
    respelled = linear(x.shape, (1, 6), "pytorch_half_pixel")

    assert run(respelled, {"x": x})["y"].ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert emulate(respelled, {"x": x})["y"].ravel().tolist() == [9, 10, 11, 12, 13, 14]
    plain = linear(x.shape, (1, 6))
    healed = cured(plain, "resize-to-matmul")
    assert run(plain, {"x": x})["y"].ravel().tolist() == [9, 10, 11, 12, 13, 14]
    assert emulate(healed, {"x": x})["y"].ravel().tolist() == [9, 10, 11, 12, 13, 14]


def test_length_one_of_half_pixel_is_unknown_from_8_5_on() -> None:
    half = linear((1, 2, 4, 6), (1, 6))
    other = linear((1, 2, 4, 6), (1, 6), "pytorch_half_pixel")

    assert linted(half, **OPEN) == [("resize", LENGTH_ONE, "unknown")]
    assert linted(other, **OPEN) == [("resize", LENGTH_ONE, "silent")]


UP: Kind = {"scales": [1, 1, 2, 1.5], "mode": "linear"}


def test_an_open_batch_leaves_nothing_unknown() -> None:
    batch, x = resize(["N", 2, 4, 6], **UP), picture(4, 6).repeat(3, axis=0)

    assert linted(batch, **FP32) == [("resize", NAME, "silent")]
    np.testing.assert_allclose(
        emulate(batch, {"x": x}, **FP32)["y"],
        bilinear(x, 8, 9, "asymmetric"),
        rtol=0,
        atol=3e-6,
    )
    assert not linted(cured(batch, NAME), **FP32)


@pytest.mark.parametrize(("config", "consequence"), [(FP32, "silent"), (OPEN, "unknown")])
@pytest.mark.parametrize("shape", [[1, 2, "H", 6], [1, 2, 4, "W"], ["N", 2, "H", "W"]])
def test_an_open_size_does_not_hide_it(
    shape: list[int | str], config: Kind, consequence: str
) -> None:
    proto = resize(shape, **UP)

    assert ("resize", NAME, consequence) in linted(proto, **config)
    assert not linted(cured(proto, NAME), NAME, **config)


@pytest.mark.parametrize(
    "kind",
    [
        {"mode": "nearest"},
        {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
        {"mode": "linear", "opset": 10},
        {"mode": "linear", "scales": [1, 1, 1, 1]},
    ],
)
def test_an_open_size_alone_is_not_it(kind: Kind) -> None:
    proto = resize([1, 2, "H", 6], **{"scales": [1, 1, 2, 2], **kind})

    assert not linted(proto, NAME, **FP32)
