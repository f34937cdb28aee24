"""310 and 310B add means up in fp16: against a loop over numpy's float16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.emulation import Linted, convert, cured, emulate, linted
from tests.models import F32, mean, model, node, run

if TYPE_CHECKING:
    from pathlib import Path


F16 = np.float16
NAME = "reducemean-fp16-acc"


def fp16_mean(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Multiply by fp16(1 / N) in fp16, then add one by one, each sum an fp16."""
    number = int(np.prod([x.shape[axis] for axis in axes]))
    scaled = x.astype(F16) * F16(1 / number)
    rows = np.moveaxis(scaled, axes, tuple(range(len(axes)))).reshape(number, -1)
    total = np.zeros(rows.shape[1], F16)
    for row in rows:
        total = total + row
    kept = [1 if axis in axes else length for axis, length in enumerate(x.shape)]
    return total.reshape(kept).astype(F32)


@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310B1"])
@pytest.mark.parametrize(
    ("shape", "axes", "opset"),
    [
        ((2, 3, 5), [2], 17),
        ((2, 3, 5), [-2], 13),
        ((2, 3, 5), [0, 2], 18),
        ((2, 64, 4), [1], 9),
        ((7,), None, 17),
    ],
)
def test_the_sum_is_kept_in_fp16(
    soc_version: str, shape: tuple[int, ...], axes: list[int] | None, opset: int
) -> None:
    x = (np.random.default_rng(5).standard_normal(shape) * 20).astype(F32)
    proto = mean(shape, axes, opset)
    reduced = tuple(axis % len(shape) for axis in axes or range(len(shape)))

    y = emulate(proto, {"x": x}, soc_version=soc_version)["y"]

    np.testing.assert_array_equal(y, fp16_mean(x, reduced))


def test_noop_with_axes_says_nothing() -> None:
    """noop_with_empty_axes=1 speaks of a mean without axes, whose kernel is not known."""
    x = (np.random.default_rng(5).standard_normal((2, 3, 5)) * 20).astype(F32)
    proto = mean(x.shape, [0, 2], 18, noop_with_empty_axes=1)
    bare = mean(x.shape, [], 18, noop_with_empty_axes=1)

    y = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]

    np.testing.assert_array_equal(y, fp16_mean(x, (0, 2)))
    assert linted(bare, NAME, soc_version="Ascend310") == [Linted("mean", NAME, "unknown")]


def test_4096_elements_lose_a_tenth() -> None:
    x = np.abs(np.random.default_rng(1).standard_normal((1, 4096))).astype(F32) * F32(3)
    proto = mean((1, 4096), [1], keepdims=0)

    here = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]
    elsewhere = emulate(proto, {"x": x}, soc_version="Ascend310P3")["y"]
    golden = run(proto, {"x": x})["y"]

    np.testing.assert_array_equal(here, fp16_mean(x, (1,)).reshape(1))
    assert abs(float(here[0] - golden[0])) > 0.02 * golden[0]
    assert abs(float(elsewhere[0] - golden[0])) < 1e-3 * golden[0]


def test_a_global_average_is_such_a_mean() -> None:
    x = np.random.default_rng(2).random((1, 3, 40, 40)).astype(F32)
    proto = model(
        [node("GlobalAveragePool", ["x"], ["y"], name="gap")],
        [("x", x.shape)],
        [("y", [1, 3, 1, 1])],
    )

    y = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]

    np.testing.assert_array_equal(y, fp16_mean(x, (2, 3)))
    assert linted(proto, soc_version="Ascend310") == [Linted("gap", NAME, "precision")]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_that_leaves_the_range_saturates(sign: int) -> None:
    """fp16(1 / 10) * 65504 = 6548; each sum rounds up, until the tenth is 65520 or more."""
    x = np.full((1, 10), sign * 65504, F32)
    with np.errstate(over="ignore"):
        assert np.isinf(fp16_mean(x, (1,))).all()

    y = emulate(mean(x.shape, [1]), {"x": x}, soc_version="Ascend310")["y"]

    assert y.tolist() == [[sign * 65504]]


def test_keepdims_and_three_of_the_largest_number() -> None:
    x = np.full((1, 3), 65504, F32)
    proto = mean(x.shape, [1], keepdims=0)

    y = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]

    # fp16(1 / 3) * 65504 = 21824 (rounded); 3 * 21824 = 65472
    assert y.tolist() == [65472]


@pytest.mark.parametrize(
    ("config", "axes"),
    [
        pytest.param({"soc_version": "Ascend310P3"}, [1], id="another-soc"),
        pytest.param({"soc_version": "Ascend910B1"}, [1], id="910B"),
        pytest.param(
            {"soc_version": "Ascend310", "precision_mode": "must_keep_origin_dtype"},
            [1],
            id="fp32-data",
        ),
        pytest.param({"soc_version": "Ascend310"}, [0], id="one-element"),
    ],
)
def test_elsewhere_nothing_is_found(config: dict[str, Any], axes: list[int]) -> None:
    assert linted(mean((1, 8), axes), **config) == []


@pytest.mark.parametrize(
    ("implmode", "is_found"),
    [(None, True), ("high_performance", True), ("high_precision", True)],
)
def test_only_the_operator_with_axes_as_input_is_in_the_lists(
    implmode: str | None, *, is_found: bool
) -> None:
    """ReduceMeanD, which constant axes give, is in none, and stays high_performance."""
    found = linted(mean((1, 8), [1]), soc_version="Ascend310", op_select_implmode=implmode)

    assert bool(found) == is_found


def test_named_for_high_precision_it_is_summed_in_fp32() -> None:
    settings: dict[str, Any] = {
        "soc_version": "Ascend310",
        "op_select_implmode": "high_precision",
        "optypelist_for_implmode": ["ReduceMeanD"],
    }

    assert linted(mean((1, 8), [1]), **settings) == []


@pytest.mark.parametrize("keepdims", [0, 1])
def test_lengths_that_are_not_fixed_are_counted_when_it_runs(keepdims: int) -> None:
    x = np.random.default_rng(6).random((3, 5, 4)).astype(F32)
    attributes = {"axes": [0, 1], "keepdims": keepdims}
    rank = 3 if keepdims else 1
    shape: list[int | str] = ["a", "b", 4]
    proto = model(
        [node("ReduceMean", ["x"], ["y"], name="mean", **attributes)],
        [("x", shape)],
        [("y", [f"d{axis}" for axis in range(rank)])],
    )

    y = emulate(proto, {"x": x}, soc_version="Ascend310")["y"]

    expected = fp16_mean(x, (0, 1))
    np.testing.assert_array_equal(y, expected if keepdims else expected.reshape(4))
    assert linted(proto, soc_version="Ascend310") == [Linted("mean", NAME, "precision")]


def test_axes_that_are_computed_are_unknown_and_the_document_names_what_is_found(
    tmp_path: Path,
) -> None:
    i64 = TensorProto.INT64
    proto = model(
        [node("ReduceMean", ["x", "axes"], ["y"], name="mean")],
        [("x", [2, 8]), ("axes", [1], i64)],
        [("y", ["a", "b"])],
        opset=18,
    )

    assert linted(proto, soc_version="Ascend310") == [Linted("mean", NAME, "unknown")]
    document = convert(mean((2, 8), [0]), tmp_path, soc_version="Ascend310")
    entry = next(each for each in document["applied"] if each["deviation"] == NAME)
    assert (entry["nodes"], entry["confidence"]) == (["mean"], "medium")


@pytest.mark.parametrize("soc_version", ["Ascend310", "Ascend310B1"])
def test_the_rule_adds_up_short_sums(soc_version: str) -> None:
    x = np.abs(np.random.default_rng(1).standard_normal((2, 4096))).astype(F32) * F32(3)
    proto = mean((2, 4096), [1])
    golden = run(proto, {"x": x})["y"]

    split = emulate(cured(proto, "split-mean"), {"x": x}, soc_version=soc_version)["y"]

    whole = emulate(proto, {"x": x}, soc_version=soc_version)["y"]
    assert np.abs(whole / golden - 1).max() > 0.05
    # 64 sums of 64 elements: each step rounds to fp16, 2^-11 of what is there
    np.testing.assert_allclose(split, golden, rtol=5e-3)
