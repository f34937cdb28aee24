from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.io_spec import inputs_of
from ascendflow.graph.run import OnnxModel
from ascendflow.stages.export import Export
from tests import exported_models as models
from tests.exported_models import save_with_external_data, x_of
from tests.stage_runs import pipeline

if TYPE_CHECKING:
    from pathlib import Path


def test_ingested_model_is_canonical_and_has_no_origins(tmp_path: Path) -> None:
    """GR03."""
    made = pipeline(tmp_path, x_of(3))
    made.ingest(models.nameless())
    written = onnx.load(made.made("exported") / "model.onnx")

    assert [n.name for n in written.graph.node] == ["Abs_0", "Relu_1", "Abs_2"]
    assert json.loads(made.made("nodes.json").read_text()) == {
        "schema_version": 1,
        "nodes": {},
    }


def test_ingest_of_what_was_ingested_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (pipeline(tmp_path / run, x_of(1, 3, 6, 6)) for run in ("a", "b"))
    first.ingest(models.conv_batch_norm())
    second.ingest(first.made("exported") / "model.onnx")

    assert (second.made("exported") / "model.onnx").read_bytes() == (
        first.made("exported") / "model.onnx"
    ).read_bytes()


def test_initializer_listed_as_input_is_no_input_of_the_export(tmp_path: Path) -> None:
    """GR01."""
    made = pipeline(tmp_path, x_of(1, 3))
    made.ingest(models.initializer_as_input())

    exported = onnx.load(made.made("exported") / "model.onnx")
    assert [spec.name for spec in inputs_of(exported)] == ["x"]
    assert [i.name for i in exported.graph.input] == ["x"]
    x = {"x": np.array([[1, 2, 3]], np.float32)}
    found = OnnxModel(made.made("exported") / "model.onnx").run(x)["y"]
    assert found.tolist() == [[6, 6]]  # the weight is all ones


def test_path_with_spaces_and_other_scripts_is_fine(tmp_path: Path) -> None:
    """GR14."""
    made = pipeline(tmp_path / "模型 вес", x_of(1, 64))
    path = save_with_external_data(models.matmul(), made.folder / "источник x")
    made.ingest(path)

    x = np.ones((1, 64), np.float32)
    np.testing.assert_array_equal(
        OnnxModel(made.made("exported") / "model.onnx").run({"x": x})["y"],
        OnnxModel(path).run({"x": x})["y"],
    )


def test_refused_model_leaves_nothing_behind(tmp_path: Path) -> None:
    """GR05."""
    made = pipeline(tmp_path, x_of(3))
    with pytest.raises(StageError, match=r"source.onnx: tensor 't' is defined twice"):
        made.ingest(models.tensor_made_twice())

    assert list((made.build / "export").iterdir()) == []


def test_opset_of_an_ingest_is_held_to_the_manifest_where_it_says_one(
    tmp_path: Path,
) -> None:
    """GR18."""
    made = pipeline(tmp_path, x_of(3))
    source = made.folder / "source.onnx"
    onnx.save(models.relu(opset=18), source)
    with pytest.raises(StageError, match="opset 18, the manifest asks for 12"):
        made.run("export", {"source": source}, torch=None, onnx=True, opset=12)


@pytest.mark.parametrize("opset", [11, 12])
def test_resize_whose_region_is_left_blank_before_opset_13_is_refused(
    opset: int, tmp_path: Path
) -> None:
    """RS04. Onnxruntime refuses it too, and from opset 13 on it may be left out."""
    up = models.constant("up", [1, 1, 2, 2])
    nodes = [models.node("Resize", ["x", "", "up"], ["y"], name="up1", mode="linear")]
    inputs, outputs = [models.value("x", [1, 1, 2, 2])], [models.value("y", [1, 1, 4, 4])]
    later = models.model(nodes, inputs, outputs, [up], opset=13)
    pipeline(tmp_path / "later", x_of(1, 1, 2, 2)).ingest(later)
    proto = models.model(nodes, inputs, outputs, [up], opset=opset)
    with pytest.raises(
        StageError, match=r"node 'up1' \(Resize\) leaves out input 1 .*'roi'"
    ):
        pipeline(tmp_path, x_of(1, 1, 2, 2)).ingest(proto)


def test_torch_takes_part_only_where_the_source_is_torch() -> None:
    assert {"torch", "onnxruntime"} <= {*Export.tools({"torch": {"module": "model.py"}})}
    assert "torch" not in Export.tools({"torch": None})
