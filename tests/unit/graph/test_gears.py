"""Shapes in gears; expected lengths are ONNX's formulas by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.gears import in_each_gear, lent_gears, shapes_of
from ascendflow.graph.load import load_model, with_new_shapes
from ascendflow.graph.rewrite import Request, replay, rewrite
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

    import onnx_ir as ir

OPEN: list[int | str] = [1, 2, "h", "w"]
AFTER: list[int | str] = [1, 2, "i", "j"]


def gears(*sizes: tuple[int, int]) -> list[dict[str, list[int]]]:
    return [{"x": [1, 2, *each]} for each in sizes]


def pooled(**kind: Any) -> onnx.ModelProto:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("AveragePool", ["r"], ["y"], name="pool", kernel_shape=[3, 3], **kind),
    ]
    return model(nodes, [("x", OPEN)], [("y", AFTER)])


def resized(scale: float) -> onnx.ModelProto:
    up = {"up": np.array([1, 1, scale, 2], F32)}
    nodes = [node("Resize", ["x", "", "up"], ["y"], name="size", mode="linear")]
    return model(nodes, [("x", OPEN)], [("y", AFTER)], up)


def loaded(
    proto: onnx.ModelProto, folder: Path, *sizes: tuple[int, int]
) -> tuple[ir.Model, list[ir.Value]]:
    onnx.save(proto, folder / "m.onnx")
    made = load_model(folder / "m.onnx", gears=gears(*sizes))
    return made, [*made.graph.inputs, *(v for n in made.graph for v in n.outputs)]


def test_each_tensor_has_the_shape_of_each_gear(tmp_path: Path) -> None:
    proto = pooled(strides=[2, 2], auto_pad="SAME_LOWER")
    made, (x, r, y) = loaded(proto, tmp_path, (8, 6), (9, 12))

    assert shapes_of(x) == shapes_of(r) == [(1, 2, 8, 6), (1, 2, 9, 12)]
    assert shapes_of(y) == [(1, 2, 4, 3), (1, 2, 5, 6)]  # ceil(length / stride)
    own = [value.shape for value in (x, r, y)]
    seen = [(gear, list(y.shape or ())) for gear in in_each_gear(made)]
    assert seen == [("x [1, 2, 8, 6]", [1, 2, 4, 3]), ("x [1, 2, 9, 12]", [1, 2, 5, 6])]
    assert [value.shape for value in (x, r, y)] == own

    edited = with_new_shapes(made, tmp_path)
    assert lent_gears(edited) == gears((8, 6), (9, 12))
    assert shapes_of(edited.graph.outputs[0]) == [(1, 2, 4, 3), (1, 2, 5, 6)]


def test_without_gears_a_model_is_looked_at_once_as_it_is(tmp_path: Path) -> None:
    made, (x, *_) = loaded(pooled(), tmp_path)

    assert [(gear, x.shape) for gear in in_each_gear(made)] == [("", x.shape)]
    assert list(shapes_of(x)) == []


def rewritten(
    folder: Path, proto: onnx.ModelProto, rule: str, *sizes: tuple[int, int]
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    onnx.save(proto, folder / "m.onnx")
    made = rewrite(
        folder / "m.onnx", folder / "out.onnx", [Request(rule)], gears=gears(*sizes)
    )
    (entry,) = made.log["rules"]
    return onnx.load(folder / "out.onnx"), dict(entry)


@pytest.mark.parametrize(
    ("proto", "rule", "sizes"),
    [
        # Both even: 3 wide windows, 2 apart, are padded by 1.
        pytest.param(
            pooled(strides=[2, 2], auto_pad="SAME_LOWER"),
            "auto-pad-to-pads",
            [(8, 6), (12, 4)],
            id="pool",
        ),
        pytest.param(resized(0.5), "resize-half-pixel", [(8, 6), (4, 5)], id="shortening"),
        # Of 8, 5 and 11 elements in steps of 3, the last window of 3 reads 1 past the end.
        pytest.param(
            pooled(strides=[3, 3], ceil_mode=1),
            "ceil-mode-to-pads",
            [(8, 5), (11, 8)],
            id="ceil-mode",
        ),
    ],
)
def test_what_is_the_same_in_every_gear_is_rewritten_and_keeps_its_values(
    tmp_path: Path, proto: onnx.ModelProto, rule: str, sizes: list[tuple[int, int]]
) -> None:
    unaware, entry = rewritten(tmp_path, proto, rule)
    assert (entry["applied"], unaware) == ([], proto)

    edited, entry = rewritten(tmp_path, proto, rule, *sizes)

    assert len(entry["applied"]) == 1
    for height, width in sizes:
        x = np.random.default_rng(0).standard_normal((1, 2, height, width)).astype(F32)
        np.testing.assert_array_equal(run(edited, {"x": x})["y"], run(proto, {"x": x})["y"])
    sizes_left = edited.graph.input[0].type.tensor_type.shape.dim[2:]
    assert [size.dim_param for size in sizes_left] == ["h", "w"]
    request = Request(rule, (entry["applied"][0]["node"],))
    replay(tmp_path / "m.onnx", tmp_path / "again.onnx", [request], gears=gears(*sizes))
    assert onnx.load(tmp_path / "again.onnx") == edited


@pytest.mark.parametrize(
    ("proto", "rule", "sizes", "reason"),
    [
        # 3 wide windows, 2 apart: an even length is padded by 1, an odd one by 2.
        pytest.param(
            pooled(strides=[2, 2], auto_pad="SAME_LOWER"),
            "auto-pad-to-pads",
            [(8, 6), (9, 6)],
            "by [1, 1] at lengths [8, 6], [2, 1] at lengths [9, 6]",
            id="pads",
        ),
        pytest.param(
            pooled(strides=[8, 8], auto_pad="SAME_LOWER"),
            "auto-pad-to-pads",
            [(8, 8), (16, 16)],
            "or crop: by [-5, -5] at lengths [16, 16]",
            id="crops",
        ),
        pytest.param(
            pooled(strides=[3, 3], ceil_mode=1),
            "ceil-mode-to-pads",
            [(8, 8), (9, 8)],
            "by different numbers: [1, 1], [0, 1]",
            id="ceil-mode",
        ),
        pytest.param(
            resized(0.5),
            "resize-half-pixel",
            [(8, 6), (2, 6)],
            "H is 1 in a gear, where the modes differ by definition",
            id="length-1",
        ),
    ],
)
def test_what_differs_between_gears_is_left_alone_with_both_values(
    tmp_path: Path,
    proto: onnx.ModelProto,
    rule: str,
    sizes: list[tuple[int, int]],
    reason: str,
) -> None:
    _, entry = rewritten(tmp_path, proto, rule, *sizes)

    (skipped,) = entry["skipped"]
    assert reason in skipped["reason"]


def squeezed(**kind: Any) -> onnx.ModelProto:
    """Pool what has an axis less where a gear has one sample."""
    nodes = [
        node("Squeeze", ["x"], ["s"]),
        node("MaxPool", ["s"], ["y"], name="pool", kernel_shape=[3, 3], **kind),
    ]
    before: list[int | str] = ["n", 2, "h", "w"]
    after: list[int | str] = ["m", 2, "i", "j"]
    return model(nodes, [("x", before)], [("y", after)])


@pytest.mark.parametrize("samples", [(1, 2), (1, 1)], ids=["in-one", "in-both"])
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ({"strides": [2, 2], "auto_pad": "SAME_LOWER"}, "auto-pad-to-pads"),
        ({"strides": [3, 3], "ceil_mode": 1}, "ceil-mode-to-pads"),
    ],
)
def test_tensor_of_another_rank_in_a_gear_has_no_lengths(
    tmp_path: Path, kind: dict[str, Any], rule: str, samples: tuple[int, int]
) -> None:
    onnx.save(squeezed(**kind), tmp_path / "m.onnx")
    shapes = [{"x": [count, 2, 8, 8]} for count in samples]
    made = rewrite(tmp_path / "m.onnx", tmp_path / "out", [Request(rule)], gears=shapes)

    (entry,) = made.log["rules"]
    assert "lengths of its input are not fixed" in entry["skipped"][0]["reason"]


def test_tensor_whose_rank_the_gears_alone_tell_is_padded(tmp_path: Path) -> None:
    proto = squeezed(strides=[2, 2], auto_pad="SAME_LOWER")
    onnx.save(proto, tmp_path / "m.onnx")
    shapes = [{"x": [count, 2, 8, 6]} for count in (2, 3)]
    request = Request("auto-pad-to-pads")
    made = rewrite(tmp_path / "m.onnx", tmp_path / "out", [request], gears=shapes)

    (entry,) = made.log["rules"]
    assert len(entry["applied"]) == 1
    edited = onnx.load(tmp_path / "out")
    for shape in shapes:
        x = np.random.default_rng(0).standard_normal(shape["x"]).astype(F32)
        np.testing.assert_array_equal(run(edited, {"x": x})["y"], run(proto, {"x": x})["y"])
