from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.canonical import canonicalise, save
from ascendflow.graph.ingest import check, read_model
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.opset import convert_opset
from ascendflow.graph.run import OnnxModel
from tests import exported_models as models
from tests.exported_models import constant, model, node, save_with_external_data, value

if TYPE_CHECKING:
    from pathlib import Path

X = np.random.default_rng(0).standard_normal((1, 64), dtype=np.float32)


def test_converted_model_gives_the_same_values(tmp_path: Path) -> None:
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


def test_weights_stay_outside_through_the_conversion(tmp_path: Path) -> None:
    source = models.matmul()
    source.opset_import[0].version = 18
    path = save_with_external_data(source, tmp_path / "in")
    lower = convert_opset(read_model(path), 15)
    canonicalise(lower)
    written = save(lower, tmp_path / "out", path.parent)
    check(written)

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
    check(path)

    assert lower.graph.node[0].domain == ""
    np.testing.assert_array_equal(OnnxModel(path).run({"x": X})["y"], X)


def test_default_that_the_lower_opset_does_not_know_is_dropped(tmp_path: Path) -> None:
    mean = node("ReduceMean", ["x", "axes"], ["y"], noop_with_empty_axes=0)
    axes = constant("axes", [1], np.int64)
    proto = model([mean], [value("x", [1, 64])], [value("y", [1, 1])], [axes], opset=18)
    lower = convert_opset(proto, 15)
    path = tmp_path / "model.onnx"
    onnx.save(lower, path)
    check(path)

    np.testing.assert_allclose(OnnxModel(path).run({"x": X})["y"], [[X.mean()]], rtol=1e-5)


def test_operator_that_the_lower_opset_lacks_is_refused_with_a_way_out() -> None:
    nodes = [node("LayerNormalization", ["x", "s"], ["y"])]
    scale = constant("s", np.ones(64))
    proto = model(nodes, [value("x", [1, 64])], [value("y", [1, 64])], [scale], opset=18)
    with pytest.raises(
        StageError, match=r"opset 18.*cannot bring it to 15.*LayerNorm"
    ) as caught:
        convert_opset(proto, 15)

    assert caught.value.hint is not None
    assert "torchscript" in caught.value.hint
