from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.stages.golden import Golden
from ascendflow.tensors import TensorSet, TensorSpec
from tests import exported_models as models
from tests.exported_models import constant, model, node, value, x_of
from tests.stage_runs import pipeline

if TYPE_CHECKING:
    from pathlib import Path


def x(*values: float) -> dict[str, np.ndarray]:
    return {"x": np.array(values, np.float32)}


def test_onnx_outputs_are_written_for_each_sample(tmp_path: Path) -> None:
    made = pipeline(tmp_path, x_of(2))
    made.sample(x(-1, 1), x(2, -2))
    made.ingest(models.passthrough())
    findings = made.golden()
    golden = TensorSet(made.made("golden") / "onnx")

    assert golden.ids == ("inputs/s0", "inputs/s1")
    np.testing.assert_array_equal(golden.load(1, "copy"), [2, -2])
    np.testing.assert_array_equal(golden.load(1, "y"), [2, 0])
    assert not (made.made("golden") / "torch").exists()
    assert findings.warnings == []
    assert json.loads(made.made("golden.json").read_text()) == {
        "schema_version": 1,
        "runtime": "onnxruntime",
        "graph_optimization": "off",
        "has_torch": False,
        "torch_onnx": {},
        "outputs": {
            "copy": {"dtype": "float32", "shape": [2]},
            "y": {"dtype": "float32", "shape": [2]},
        },
    }


def test_scalars_stay_scalars(tmp_path: Path) -> None:
    """SH06."""
    made = pipeline(tmp_path, [*x_of(2, 3), TensorSpec("scale", "float32", ())])
    fed = {"x": np.ones((2, 3), np.float32), "scale": np.array(2, np.float32)}
    made.sample(fed)
    made.ingest(models.scalar_input())
    made.golden()

    assert TensorSet(made.made("golden") / "onnx").load(0, "y").shape == ()


@pytest.mark.parametrize(
    ("op_type", "fed", "said"),
    [
        pytest.param("Sqrt", -1.0, "has 1 NaN and 0 infinite of 2 elements", id="nan"),
        pytest.param("Log", 0.0, "has 0 NaN and 1 infinite of 2 elements", id="inf"),
    ],
)
def test_golden_that_is_not_finite_is_refused_naming_output_and_sample(
    op_type: str, fed: float, said: str, tmp_path: Path
) -> None:
    """OP02, FP10."""
    made = pipeline(tmp_path, x_of(2))
    made.sample(x(1, 1), x(1, fed))
    made.ingest(model([node(op_type, ["x"], ["y"])], [value("x", [2])], [value("y", [2])]))
    with pytest.raises(StageError) as caught:
        made.golden()

    assert f"output 'y' of the exported model {said}, sample 'inputs/s1'" in str(
        caught.value
    )


def test_output_that_ignores_the_input_is_warned_about(tmp_path: Path) -> None:
    """GR23."""
    made = pipeline(tmp_path, x_of(4))
    made.sample(x(1, 2, 3, 4), x(9, 8, 7, 6))
    made.ingest(models.input_independent())
    (warning,) = made.golden().warnings

    assert "output 'y' does not depend on the input" in warning
    assert TensorSet(made.made("golden") / "onnx").load(0, "y").tolist() == [5, 6]


@pytest.mark.parametrize("count", [1, 2], ids=["one-sample", "equal-samples"])
def test_output_that_ignores_the_input_is_found_out_with_one_sample(
    count: int, tmp_path: Path
) -> None:
    """GR23."""
    made = pipeline(tmp_path, x_of(4))
    made.sample(*[x(1, 2, 3, 4)] * count)
    made.ingest(models.input_independent())
    (warning,) = made.golden().warnings

    assert "output 'y' seems not to depend on the input" in warning


@pytest.mark.parametrize(
    "fed",
    [
        pytest.param([1, 2, 3, 4], id="moves"),
        pytest.param([1, 1, 1, 1], id="the-same-backwards"),
        pytest.param([0, 0, 0, 0], id="not-to-be-altered"),
    ],
)
def test_output_that_follows_the_only_sample_is_not_warned_about(
    fed: list[float], tmp_path: Path
) -> None:
    """GR23."""
    made = pipeline(tmp_path, x_of(4))
    made.sample(x(*fed))
    nodes = [node("ReduceMax", ["x"], ["y"], keepdims=0)]
    made.ingest(model(nodes, [value("x", [4])], [value("y", [])]))

    assert made.golden().warnings == []


def test_class_that_stays_says_nothing_about_dependence(tmp_path: Path) -> None:
    """GR23."""
    made = pipeline(tmp_path, x_of(3))
    made.sample(x(1, 9, 2))
    nodes = [node("ArgMax", ["x"], ["y"], keepdims=0)]
    made.ingest(model(nodes, [value("x", [3])], [value("y", [], onnx.TensorProto.INT64)]))

    assert made.golden().warnings == []


def test_model_that_cannot_take_the_altered_sample_keeps_its_runtime(
    tmp_path: Path,
) -> None:
    """GR23."""
    made = pipeline(tmp_path, [TensorSpec("n", "int64", (2,))])
    made.sample({"n": np.array([1, -1])})  # backwards, -1 is asked for as a length
    nodes = [
        node("Gather", ["n", "zero"], ["length"]),
        node("ConstantOfShape", ["length"], ["y"]),
    ]
    inputs = [value("n", [2], onnx.TensorProto.INT64)]
    zero = constant("zero", [0], np.int64)
    made.ingest(model(nodes, inputs, [value("y", ["length"])], [zero]))

    assert made.golden().warnings == []
    assert json.loads(made.made("golden.json").read_text())["runtime"] == "onnxruntime"


def test_reference_evaluator_is_named_in_record_and_document(tmp_path: Path) -> None:
    """DT05."""
    made = pipeline(tmp_path, x_of(1, 2))
    made.sample({"x": np.array([[1.0, 0.3]], np.float32)})
    made.ingest(models.bfloat16_matmul())
    (warning,) = made.golden().warnings

    assert "'mm_bf16' (MatMul, bfloat16)" in warning
    assert json.loads(made.made("golden.json").read_text())["runtime"] == "onnx.reference"
    y = TensorSet(made.made("golden") / "onnx").load(0, "y")
    np.testing.assert_array_equal(y, np.array([[1.90625, 2.03125]], np.float32))


def test_torch_takes_part_only_where_the_source_is_torch() -> None:
    assert "torch" in Golden.tools({"torch": {"module": "model.py"}})
    assert "torch" not in Golden.tools({"torch": None})
