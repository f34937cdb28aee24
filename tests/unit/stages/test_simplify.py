from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph import canonical, simplifier
from ascendflow.graph.run import OnnxModel
from ascendflow.graph.simplified import simplify_delivered
from ascendflow.stages.simplify import Simplify
from ascendflow.stages.stage import KeptFile
from ascendflow.tensors import TensorSet, TensorSpec
from tests import exported_models as models
from tests.exported_models import constant, model, node, value, x_of
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path


def exported(tmp_path: Path, proto: onnx.ModelProto, *shape: int) -> Pipeline:
    """Make a pipeline up to golden, with two samples of `x`."""
    made = pipeline(tmp_path, x_of(*shape))
    rng = np.random.default_rng(0)
    made.sample(*({"x": rng.standard_normal(shape, dtype=np.float32)} for _ in range(2)))
    made.ingest(proto)
    made.golden()
    return made


def document(made: Pipeline) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made.made("simplify.json").read_text())
    return found


def pretend(monkeypatch: pytest.MonkeyPatch, result: onnx.ModelProto) -> None:
    """Let onnxsim return `result`."""
    monkeypatch.setattr(
        simplifier, "_onnxsim", lambda: lambda _path, **_options: (result, True)
    )


def test_batch_norm_is_folded_within_the_relative_limit(tmp_path: Path) -> None:
    """OP06."""
    made = exported(tmp_path, models.conv_batch_norm(), 1, 3, 6, 6)
    made.simplify()
    written = onnx.load(made.made("simplified") / "model.onnx")
    moved = document(made)["outputs"]["y"]

    assert [n.op_type for n in written.graph.node] == ["Conv"]
    assert document(made)["setting"] == "full"
    assert (document(made)["nodes_before"], document(made)["nodes_after"]) == (2, 1)
    assert moved["max_absolute_error"] > 1e-6  # an absolute limit would refuse this
    assert moved["relative"] < 1e-6


def test_resize_with_empty_roi_still_loads_and_is_exact(tmp_path: Path) -> None:
    """RS08."""
    made = exported(tmp_path, models.resize_with_empty_roi(), 1, 2, 5, 5)
    made.simplify()

    assert document(made)["outputs"]["y"]["max_absolute_error"] == 0
    written = onnx.load(made.made("simplified") / "model.onnx")
    assert "Shape" not in {n.op_type for n in written.graph.node}


def test_identity_between_input_and_output_is_kept(tmp_path: Path) -> None:
    """GR21."""
    made = exported(tmp_path, models.passthrough(), 2)
    made.simplify()
    simplified = OnnxModel(made.made("simplified") / "model.onnx")

    assert [spec.name for spec in simplified.outputs] == ["copy", "y"]
    outputs = simplified.run({"x": np.array([-1, 1], np.float32)})
    np.testing.assert_array_equal(outputs["copy"], [-1, 1])
    np.testing.assert_array_equal(outputs["y"], [0, 1])


def test_simplified_model_is_canonical_and_reproducible(tmp_path: Path) -> None:
    written = []
    for run in ("a", "b"):
        made = exported(tmp_path / run, models.conv_batch_norm(), 1, 3, 6, 6)
        made.simplify()
        written.append((made.made("simplified") / "model.onnx").read_bytes())
    proto = onnx.ModelProto.FromString(written[0])

    assert written[0] == written[1]
    assert not proto.metadata_props
    assert not proto.producer_name
    assert not proto.graph.value_info


def test_switched_off_it_passes_every_file_on_unread(tmp_path: Path) -> None:
    made = exported(tmp_path, models.conv_batch_norm(), 1, 3, 6, 6)
    (made.made("exported") / "model.onnx.data").write_bytes(b"weights")
    findings = made.simplify(enabled=False)

    assert findings.kept == {
        "simplified/model.onnx": KeptFile("exported", "model.onnx"),
        "simplified/model.onnx.data": KeptFile("exported", "model.onnx.data"),
    }
    assert list(made.made("simplified").iterdir()) == []
    assert document(made)["enabled"] is False
    assert document(made)["setting"] is None
    assert Simplify.tools({"enabled": False}) == ("numpy", "onnx", "onnx-ir")


def test_milder_setting_is_named_in_warning_and_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exported(tmp_path, models.relu(), 3)

    def tool(path: str, **options: bool) -> tuple[onnx.ModelProto, bool]:
        if not options:
            raise RuntimeError(f"cannot fuse {path}")
        return onnx.load(path), True

    monkeypatch.setattr(simplifier, "_onnxsim", lambda: tool)
    (warning,) = made.simplify().warnings

    assert "'without fusion'" in warning
    assert document(made)["setting"] == "without fusion"
    assert document(made)["failed"] == [
        {"setting": "full", "error": "RuntimeError: cannot fuse model.onnx"}
    ]


def test_values_moved_beyond_the_limit_are_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exported(tmp_path, models.relu(), 3)
    nodes = [node("Relu", ["x"], ["r"]), node("Mul", ["r", "k"], ["y"])]
    scaled = model(nodes, [value("x", [3])], [value("y", [3])], [constant("k", 1.01)])
    pretend(monkeypatch, scaled)
    with pytest.raises(
        StageError, match=r"output 'y': max absolute error .*, allowed 0.0001"
    ):
        made.simplify()


def test_nan_after_simplification_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exported(tmp_path, models.relu(), 3)
    nan = model([node("Sqrt", ["x"], ["y"])], [value("x", [3])], [value("y", [3])])
    pretend(monkeypatch, nan)
    with pytest.raises(StageError, match=r"output 'y' of the simplified model.*NaN"):
        made.simplify()


@pytest.mark.parametrize(
    ("result", "said"),
    [
        pytest.param(models.relu([1]), "changed the inputs", id="frozen-shape"),
        pytest.param(models.relu(opset=18), "changed the opset from 17 to 18", id="opset"),
        pytest.param(
            model([node("Relu", ["x"], ["z"])], [value("x", [3])], [value("z", [3])]),
            "changed the outputs",
            id="output-name",
        ),
    ],
)
def test_another_interface_is_refused(
    result: onnx.ModelProto, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exported(tmp_path, models.relu(), 3)
    pretend(monkeypatch, result)
    with pytest.raises(StageError, match=said):
        made.simplify()


def test_bfloat16_model_is_held_to_its_golden_in_the_reference_evaluator(
    tmp_path: Path,
) -> None:
    """DT05."""
    made = exported(tmp_path, models.bfloat16_matmul(), 1, 2)
    findings = made.simplify()

    assert "'mm_bf16'" in findings.warnings[0]
    assert document(made)["outputs"]["y"]["max_absolute_error"] == 0


def test_golden_of_another_set_of_samples_is_not_compared(tmp_path: Path) -> None:
    made = exported(tmp_path, models.relu(), 3)
    golden = TensorSet(made.made("golden") / "onnx")
    index = made.made("golden") / "onnx" / "tensors.json"
    kept = json.loads(index.read_text())
    kept["samples"] = kept["samples"][:1]
    index.write_text(json.dumps(kept))

    assert len(golden) == 2
    with pytest.raises(ValueError, match="zip"):
        made.simplify()


def test_weights_beyond_the_limit_stay_beside_the_model_in_every_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GR29."""
    monkeypatch.setattr(canonical, "EMBED_LIMIT", 1024)  # 2 GB in earnest
    made = exported(tmp_path, models.matmul(), 1, 64)
    made.simplify()

    for role in ("exported", "simplified"):
        names = sorted(path.name for path in made.made(role).iterdir())
        assert names == ["model.onnx", "model.onnx.data"]
        assert (made.made(role) / "model.onnx").stat().st_size < 1024
    assert document(made)["outputs"]["y"]["max_absolute_error"] == 0


def test_lint_makes_the_same_bytes_of_a_file_without_a_pipeline(tmp_path: Path) -> None:
    """Of what comes in by the same door; weights move to the folder it is given."""
    made = exported(tmp_path, models.conv_batch_norm(), 1, 3, 6, 6)
    made.simplify()
    onnx.save(models.conv_batch_norm(), tmp_path / "delivered.onnx")
    inputs = [TensorSpec("x", "float32", (1, 3, 6, 6))]

    found = simplify_delivered(tmp_path / "delivered.onnx", tmp_path / "lint", inputs)

    expected = (made.made("simplified") / "model.onnx").read_bytes()
    assert found.read_bytes() == expected
