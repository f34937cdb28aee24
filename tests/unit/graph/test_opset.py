from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.ingest import check, read_model
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.opset import convert_opset, hold_to_original
from ascendflow.graph.run import OnnxModel
from tests import exported_models as models
from tests.exported_models import constant, model, node, save_with_external_data, value
from tests.models import resize
from tests.models import run as run_in_onnxruntime

if TYPE_CHECKING:
    from pathlib import Path

X = np.random.default_rng(0).standard_normal((1, 64), dtype=np.float32)


def test_converted_model_gives_the_same_values(tmp_path: Path) -> None:
    """GR18."""
    w = np.random.default_rng(7).standard_normal((2, 1, 3, 3))
    nodes = [node("Conv", ["x", "w"], ["y"], name="conv1")]
    inputs, outputs = [value("x", [1, 1, 5, 5])], [value("y", [1, 2, 3, 3])]
    proto = model(nodes, inputs, outputs, [constant("w", w)], opset=22, ir_version=10)
    onnx.save(proto, tmp_path / "before.onnx")
    lower = convert_opset(proto, 17)
    onnx.save(lower, tmp_path / "after.onnx")
    x = np.random.default_rng(0).standard_normal((1, 1, 5, 5), dtype=np.float32)

    assert opset_of(lower) == 17
    assert opset_of(proto) == 22
    np.testing.assert_array_equal(
        OnnxModel(tmp_path / "after.onnx").run({"x": x})["y"],
        OnnxModel(tmp_path / "before.onnx").run({"x": x})["y"],
    )


@pytest.mark.parametrize("attributes", [{}, {"antialias": 0}], ids=["plain", "default"])
def test_resize_of_opset_18_is_spelled_for_opset_17(
    attributes: dict[str, int], tmp_path: Path
) -> None:
    """GR19."""
    resize = node("Resize", ["x", "", "", "s"], ["y"], mode="linear", **attributes)
    sizes = constant("s", [1, 1, 8, 8], np.int64)
    inputs, outputs = [value("x", [1, 1, 4, 4])], [value("y", [1, 1, 8, 8])]
    proto = model([resize], inputs, outputs, [sizes], opset=18)
    onnx.save(convert_opset(proto, 17), tmp_path / "model.onnx")
    check(tmp_path / "model.onnx", "the model")
    x = np.random.default_rng(7).standard_normal((1, 1, 4, 4), dtype=np.float32)

    assert opset_of(onnx.load(tmp_path / "model.onnx")) == 17
    np.testing.assert_array_equal(
        OnnxModel(tmp_path / "model.onnx").run({"x": x})["y"],
        run_in_onnxruntime(proto, {"x": x})["y"],
    )


def test_antialias_is_not_dropped_on_the_way_down() -> None:
    """GR19."""
    resize = node("Resize", ["x", "", "", "s"], ["y"], mode="linear", antialias=1)
    sizes = constant("s", [1, 1, 2, 2], np.int64)
    inputs, outputs = [value("x", [1, 1, 4, 4])], [value("y", [1, 1, 2, 2])]
    proto = model([resize], inputs, outputs, [sizes], opset=18)

    with pytest.raises(StageError, match=r"opset 18.*cannot bring it to 17"):
        convert_opset(proto, 17)


def test_weights_stay_outside_through_the_conversion(tmp_path: Path) -> None:
    source = models.matmul()
    source.opset_import[0].version = 18
    path = save_with_external_data(source, tmp_path / "in")
    lower = convert_opset(read_model(path), 15)
    canonicalise(lower)
    written = save(lower, tmp_path / "out", path.parent)
    check(written, "model.onnx")

    assert [i.name for i in lower.graph.input] == ["x"]
    np.testing.assert_array_equal(
        OnnxModel(written).run({"x": X})["y"], OnnxModel(path).run({"x": X})["y"]
    )


@pytest.mark.parametrize(
    "unchanged",
    [
        pytest.param(node("Identity", ["x"], ["y"]), id="identity"),
        pytest.param(node("Pad", ["x", "pads"], ["y"]), id="pad"),
        pytest.param(node("Split", ["x", "lengths"], ["y"]), id="split"),
    ],
)
def test_node_that_is_spelled_the_same_needs_no_adapter(
    unchanged: onnx.NodeProto, tmp_path: Path
) -> None:
    constants = [
        constant("pads", [0, 0, 0, 0], np.int64),
        constant("lengths", [1], np.int64),
    ]
    outputs = [value(name, [1, 64]) for name in unchanged.output]
    proto = model([unchanged], [value("x", [1, 64])], outputs, constants, opset=18)
    lower = convert_opset(proto, 15)
    path = tmp_path / "model.onnx"
    onnx.save(lower, path)
    check(path, "model.onnx")

    assert lower.graph.node[0].domain == ""
    np.testing.assert_array_equal(OnnxModel(path).run({"x": X})["y"], X)


def test_default_that_the_lower_opset_does_not_know_is_dropped(tmp_path: Path) -> None:
    mean = node("ReduceMean", ["x", "axes"], ["y"], noop_with_empty_axes=0)
    axes = constant("axes", [1], np.int64)
    proto = model([mean], [value("x", [1, 64])], [value("y", [1, 1])], [axes], opset=18)
    lower = convert_opset(proto, 15)
    path = tmp_path / "model.onnx"
    onnx.save(lower, path)
    check(path, "model.onnx")

    np.testing.assert_allclose(OnnxModel(path).run({"x": X})["y"], [[X.mean()]], rtol=1e-5)


def test_operator_that_the_lower_opset_lacks_is_refused_with_a_way_out() -> None:
    """GR19."""
    nodes = [node("LayerNormalization", ["x", "s"], ["y"])]
    scale = constant("s", np.ones(64))
    proto = model(nodes, [value("x", [1, 64])], [value("y", [1, 64])], [scale], opset=18)
    with pytest.raises(
        StageError, match=r"opset 18.*cannot bring it to 15.*LayerNorm"
    ) as caught:
        convert_opset(proto, 15)

    assert caught.value.hint == (
        "use export.exporter: torchscript, or ask for opset 17, the first with "
        "LayerNormalization"
    )


def split(lengths: list[int]) -> onnx.ModelProto:
    """Parts of 64 by their number, which is how opset 18 spells what 15 does by default."""
    names = [f"y{index}" for index in range(len(lengths))]
    nodes = [node("Split", ["x"], names, axis=1, num_outputs=len(lengths))]
    outputs = [value(name, [1, n]) for name, n in zip(names, lengths, strict=True)]
    return model(nodes, [value("x", [1, 64])], outputs, opset=18)


def test_split_into_equal_parts_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(convert_opset(split([16, 16, 16, 16]), 15), path)
    check(path, path.name)
    found = OnnxModel(path).run({"x": X})

    np.testing.assert_array_equal(list(found.values()), np.split(X, 4, axis=1))


def test_split_into_unequal_parts_is_refused() -> None:
    with pytest.raises(StageError, match=r"cannot bring it to 15.*Split"):
        convert_opset(split([22, 22, 20]), 15)


def asymmetric(row: np.ndarray, scale: int) -> np.ndarray:
    """Linear sampling at index / scale along the last axis, in closed form."""
    at = np.arange(len(row) * scale) / scale
    return np.asarray(np.interp(at, np.arange(len(row)), row), np.float32)


@pytest.mark.parametrize(
    ("size", "scale"), [(2, 2), (3, 2), (5, 3)], ids=["2-to-4", "3-to-6", "5-to-15"]
)
def test_opset_move_that_samples_a_resize_otherwise_is_refused_with_both_values(
    size: int, scale: int, tmp_path: Path
) -> None:
    """RS04. Opset 10 samples asymmetrically; in 11 that must be said, or it is not so."""
    shape, scales = [1, 1, 1, size], [1, 1, 1, scale]
    linear: dict[str, Any] = {"scales": scales, "mode": "linear"}
    old = resize(shape, opset=10, **linear)
    said = resize(shape, opset=11, coordinate_transformation_mode="asymmetric", **linear)
    paths = {name: tmp_path / f"{name}.onnx" for name in ("old", "moved", "said")}
    for name, proto in (("old", old), ("moved", convert_opset(old, 11)), ("said", said)):
        onnx.save(proto, paths[name])
    x = np.arange(size, dtype=np.float32).reshape(shape)
    expected = asymmetric(x.ravel(), scale)
    y = OnnxModel(paths["said"]).run({"x": x})["y"]

    np.testing.assert_allclose(y.ravel(), expected, atol=1e-6)
    hold_to_original(paths["old"], paths["said"], {"x": x})
    off = np.abs(OnnxModel(paths["moved"]).run({"x": x})["y"].ravel() - expected).max()
    assert off > 0.2
    with pytest.raises(StageError) as caught:
        hold_to_original(paths["old"], paths["moved"], {"x": x})
    assert "from opset 10 to 11 and changed what it computes" in caught.value.message
    assert f"output 'y': max absolute error {off:.6g}, allowed" in caught.value.message
