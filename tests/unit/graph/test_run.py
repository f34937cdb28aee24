from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import ascendflow
from ascendflow.errors import StageError
from ascendflow.graph.io_spec import ValueSpec
from ascendflow.graph.run import ONNXRUNTIME, REFERENCE, OnnxModel, session_options
from tests import exported_models as models
from tests.exported_models import model, node, value


def load(proto: onnx.ModelProto, tmp_path: Path) -> OnnxModel:
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return OnnxModel(path)


def test_model_without_bfloat16_kernel_runs_in_the_reference_evaluator(
    tmp_path: Path,
) -> None:
    """DT05."""
    loaded = load(models.bfloat16_matmul(), tmp_path)
    (y,) = loaded.run({"x": np.array([[1.0, 0.3]], np.float32)}).values()

    assert loaded.runtime == REFERENCE
    assert loaded.note is not None
    assert loaded.note.startswith("onnxruntime cannot run 'mm_bf16' (MatMul, bfloat16)")
    assert str(tmp_path) not in loaded.note
    # By hand: bf16(0.3) = 0.30078125; 1 + 3 * 0.30078125 = 1.90234375, and
    # 0.30078125 + 5.75 * 0.30078125 = 2.0302734375, each rounded to 8 bits.
    np.testing.assert_array_equal(y, np.array([[1.90625, 2.03125]], np.float32))


@pytest.mark.parametrize("runtime", [ONNXRUNTIME, REFERENCE])
def test_external_data_may_lie_in_another_folder(tmp_path: Path, runtime: str) -> None:
    proto = models.bfloat16_matmul() if runtime == REFERENCE else models.rms_norm()
    width = 2 if runtime == REFERENCE else 1
    feeds = {"x": np.array([[1.0, 0.3]], np.float32)[:, :width]}
    for tensor in proto.graph.initializer:  # onnx moves raw data alone
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    expected = load(proto, tmp_path).run(feeds)
    path, weights = tmp_path / "graph" / "model.onnx", tmp_path / "weights"
    path.parent.mkdir()
    weights.mkdir()
    onnx.save(
        proto,
        weights / "model.onnx",
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=0,
    )
    (weights / "model.onnx").rename(path)
    loaded = OnnxModel(path, weights=weights)
    found = loaded.run(feeds)

    assert loaded.runtime == runtime
    assert (weights / "model.onnx.data").stat().st_size > 0
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor)
    with pytest.raises(StageError):
        OnnxModel(path)


def test_bfloat16_input_and_output_keep_their_dtype(tmp_path: Path) -> None:
    """DT05."""
    bf16 = TensorProto.BFLOAT16
    identity = [node("Identity", ["x"], ["y"])]
    loaded = load(
        model(identity, [value("x", [2], bf16)], [value("y", [2], bf16)]), tmp_path
    )
    fed = np.array([1.5, -2], ml_dtypes.bfloat16)
    y = loaded.run({"x": fed})["y"]

    assert loaded.inputs == (ValueSpec("x", "bfloat16", (2,)),)
    assert y.dtype == fed.dtype
    np.testing.assert_array_equal(y, fed)


def test_wrong_fusion_does_not_happen_with_optimisation_off(tmp_path: Path) -> None:
    """OP08, FP12."""
    loaded = load(models.rms_norm(), tmp_path)
    y = loaded.run({"x": np.array([[2]], np.float32)})["y"]

    assert loaded.runtime == ONNXRUNTIME
    # 2 / sqrt(4 + 1e-5) * [1, 3], in closed form; float32 rounding of three operations.
    np.testing.assert_allclose(y, [[0.99999875, 2.99999625]], rtol=2e-7)


def test_no_session_is_made_with_optimisation_on() -> None:
    """FP12. Every session of the package takes its options from one place."""
    import onnxruntime as ort

    package = Path(ascendflow.__file__).parent
    callers = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "ort.InferenceSession(" in (text := path.read_text())
        and "session_options(" in text
    ]
    makers = [p for p in package.rglob("*.py") if "InferenceSession" in p.read_text()]

    assert sorted(callers) == ["graph/kernel_lookup.py", "graph/run.py", "graph/segment.py"]
    assert len(makers) == len(callers)
    off = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert session_options(1).graph_optimization_level == off


def test_scalar_stays_a_scalar(tmp_path: Path) -> None:
    """SH06."""
    loaded = load(models.scalar_input(), tmp_path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = loaded.run({"x": x, "scale": np.array(2, np.float32)})["y"]

    assert y.shape == ()
    assert y == 10


def test_array_that_is_not_contiguous_gives_the_same(tmp_path: Path) -> None:
    """IO03."""
    x = np.arange(12, dtype=np.float32).reshape(4, 3).T - 6
    y = load(models.relu([3, 4]), tmp_path).run({"x": x})["y"]

    np.testing.assert_array_equal(y, np.maximum(x, 0))


def test_initializer_listed_as_input_is_not_asked_for(tmp_path: Path) -> None:
    loaded = load(models.initializer_as_input(), tmp_path)

    assert [spec.name for spec in loaded.inputs] == ["x"]
    y = loaded.run({"x": np.array([[1, 2, 3]], np.float32)})["y"]
    np.testing.assert_array_equal(y, [[6, 6]])


def test_outputs_come_in_the_models_order(tmp_path: Path) -> None:
    loaded = load(models.passthrough(), tmp_path)
    outputs = loaded.run({"x": np.array([-1, 1], np.float32)})

    assert list(outputs) == ["copy", "y"]
    np.testing.assert_array_equal(outputs["copy"], [-1, 1])
    np.testing.assert_array_equal(outputs["y"], [0, 1])


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        pytest.param({}, "input 'x' is not fed", id="missing"),
        pytest.param({"z": np.zeros(3)}, "there is no input 'z'", id="unknown"),
        pytest.param({"x": np.zeros(3)}, "is float32, fed float64", id="dtype"),
        pytest.param({"x": np.zeros((1, 3), np.float32)}, r"fed \(1, 3\)", id="shape"),
    ],
)
def test_feeds_unlike_the_inputs_are_refused(
    feeds: dict[str, np.ndarray], said: str, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match=said):
        load(models.relu(), tmp_path).run(feeds)


def test_vector_of_one_element_is_refused_for_a_scalar(tmp_path: Path) -> None:
    """SH06."""
    feeds = {"x": np.zeros((2, 3), np.float32), "scale": np.zeros(1, np.float32)}
    with pytest.raises(StageError, match=r"'scale' has shape \(\), fed \(1,\)"):
        load(models.scalar_input(), tmp_path).run(feeds)


def test_model_that_no_runtime_knows_is_refused(tmp_path: Path) -> None:
    proto = models.relu()
    proto.graph.node[0].domain = "com.example"
    proto.opset_import.add(domain="com.example", version=1)
    with pytest.raises(StageError, match=r"^model\.onnx: onnxruntime fails: .*Relu"):
        load(proto, tmp_path).run({"x": np.zeros(3, np.float32)})


def test_model_that_onnxruntime_refuses_is_not_run_by_the_evaluator(tmp_path: Path) -> None:
    # The evaluator adds a float32 and an int64 without a word; ONNX's Add may not.
    one = [models.constant("one", [1], np.int64)]
    nodes = [node("Add", ["x", "one"], ["y"], name="odd")]
    with pytest.raises(
        StageError, match=r"^model\.onnx: onnxruntime fails: .*\(odd\)"
    ) as caught:
        load(model(nodes, [value("x", [3])], [value("y", [3])], one), tmp_path)

    assert str(tmp_path) not in caught.value.message


def test_node_that_fails_as_it_runs_is_not_run_by_the_evaluator(tmp_path: Path) -> None:
    # The evaluator reads index 7 modulo the length.
    seven = [models.constant("at", [7], np.int64)]
    proto = model(
        [node("Gather", ["x", "at"], ["y"], name="far")],
        [value("x", [3])],
        [value("y", [1])],
        seven,
    )
    with pytest.raises(StageError, match=r"^model\.onnx: onnxruntime fails: .*'far'"):
        load(proto, tmp_path).run({"x": np.zeros(3, np.float32)})


def test_feeds_that_onnxruntime_cannot_take_go_to_the_evaluator(tmp_path: Path) -> None:
    bf16 = TensorProto.BFLOAT16
    identity = [node("Identity", ["x"], ["y"])]
    proto = model(identity, [value("x", [1], bf16)], [value("y", [1], bf16)])
    loaded = load(proto, tmp_path)
    loaded.run({"x": np.array([1], ml_dtypes.bfloat16)})

    assert loaded.runtime == REFERENCE


# Published values: torch's own rule divides by the window inside the padded input.
INCLUDE_PAD = [1.5556, 3.3333, 2, 6.3333, 11, 6, 4.5, 7.5, 4]


@pytest.mark.parametrize("opset", [11, 18, 19])
def test_average_pool_with_ceil_mode_counts_padding_as_torch_does(
    opset: int, tmp_path: Path
) -> None:
    """OP01."""
    proto = models.average_pool(opset, size=4, stride=2, include_pad=1)
    x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    y = load(proto, tmp_path).run({"x": x})["y"]

    np.testing.assert_allclose(y.ravel(), INCLUDE_PAD, atol=5e-5)  # printed to 4 places


def test_average_pool_drops_a_window_wholly_in_the_padding(tmp_path: Path) -> None:
    """OP02."""
    proto = models.average_pool(19, size=2, stride=3, include_pad=0)
    x = np.random.default_rng(0).standard_normal((1, 1, 2, 2), dtype=np.float32)
    y = load(proto, tmp_path).run({"x": x})["y"]

    assert y.shape == (1, 1, 1, 1)
    np.testing.assert_allclose(y.ravel(), [x.mean()], rtol=1e-6)
