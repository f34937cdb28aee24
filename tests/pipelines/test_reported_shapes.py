"""Shapes and feeds on the road to an OM, as users reported them failing.

Each case is built in code, with a variant or two of its kind; what is expected comes from
onnxruntime on another model, from numpy, or from the public report itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError
from ascendflow.graph.run import OnnxModel
from ascendflow.tensors import TensorSpec
from tests import exported_models
from tests.models import F32, Shape, model, node
from tests.stage_runs import pipeline, simplified

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import onnx


def reshapes(*between: list[int]) -> onnx.ModelProto:
    """Make Reshapes of x, from 0, 8, 2 through `between` to 0, 0, 4."""
    shapes = [*between, [0, 0, 4]]
    names = ["x", *(f"r{k}" for k in range(len(between))), "y"]
    return model(
        [
            node("Reshape", [names[k], f"s{k}"], [names[k + 1]], allowzero=int(0 in shape))
            for k, shape in enumerate(shapes)
        ],
        [("x", [0, 8, 2])],
        [("y", ["a", "b", "c"])],
        {f"s{k}": np.array(shape, np.int64) for k, shape in enumerate(shapes)},
        opset=18,
    )


@pytest.mark.parametrize("between", [[[4, 2, -1]], [], [[16, 0], [4, 2, -1]]], ids=str)
def test_empty_tensor_keeps_its_shape_to_the_target_and_is_said_aloud(
    between: list[list[int]], tmp_path: Path
) -> None:
    """SH05."""
    made = simplified(tmp_path, reshapes(*between), x=np.zeros((0, 8, 2), F32))
    verdict = made.judge()

    assert made.golden_of().shape == made.emulated().shape == (0, 0, 4)
    assert verdict["passed"]
    assert made.findings["compare"].warnings == [
        "compare: output 'y' is empty in at least one sample"
    ]


def test_empty_input_beside_a_full_one_gives_the_full_ones_values(tmp_path: Path) -> None:
    """SH05."""
    kind = TensorProto.INT32
    proto = model(
        [node("Concat", ["none", "x"], ["y"], axis=0)],
        [("none", [0, 3], kind), ("x", [2, 3], kind)],
        [("y", ["n", 3], kind)],
    )
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    made = simplified(tmp_path, proto, none=np.zeros((0, 3), np.int32), x=x)

    assert made.judge()["passed"]
    np.testing.assert_array_equal(made.emulated(), x)


def test_runtime_that_gives_an_empty_tensor_another_shape_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SH05. As older onnxruntimes do."""
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (0, 8, 2))])
    made.sample({"x": np.zeros((0, 8, 2), F32)})
    made.ingest(reshapes([4, 2, -1]))
    older = {"y": np.zeros((4, 2, 0), F32)}
    monkeypatch.setattr(OnnxModel, "run", lambda *_: older)
    with pytest.raises(
        StageError, match=r"\[4, 2, 0\] in onnxruntime and .* \[0, 0, 4\] in"
    ):
        made.golden()


@pytest.mark.parametrize("dtype", [F32, np.int64])
def test_scalars_stay_scalars_to_the_target(dtype: type, tmp_path: Path) -> None:
    """SH06."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = model(
        [node("Mul", ["x", "scale"], ["m"]), node("ReduceMax", ["m"], ["y"], keepdims=0)],
        [("x", [2, 3], kind), ("scale", [], kind)],
        [("y", [], kind)],
    )
    x: np.ndarray = np.arange(6).reshape(2, 3).astype(dtype)
    scale: np.ndarray = np.array(2, dtype)
    made = simplified(tmp_path, proto, x=x, scale=scale)

    assert made.judge()["passed"]
    assert made.golden_of().shape == made.emulated().shape == ()
    assert made.emulated() == 10
    fed = pipeline(tmp_path / "vector", [TensorSpec("scale", np.dtype(dtype).name, ())])
    with pytest.raises(StageError, match=r"'scale' has shape \[1\], want \[\]"):
        fed.sample({"scale": scale.reshape(1)})


@pytest.mark.parametrize(
    ("said", "real"),
    [(["input"], ["images"]), (["image", "mask"], ["images", "masks"])],
    ids=["one", "two"],
)
def test_wrong_input_name_is_refused_listing_the_models_own(
    said: list[str], real: list[str], tmp_path: Path
) -> None:
    """SH01."""
    shape: Shape = ["batch", 3, 4, 4]
    proto = model(
        [node("Sum", real, ["output0"])],
        [(name, shape) for name in real],
        [("output0", shape)],
    )
    made = pipeline(tmp_path, [TensorSpec(name, "float32", (1, 3, 4, 4)) for name in said])
    with pytest.raises(StageError) as caught:
        made.ingest(proto)

    listed = ", ".join(map(repr, real))
    for name in said:
        message = f"the model has no input {name!r}; its inputs are: {listed}"
        assert message in caught.value.message


ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": np.asfortranarray,
    "reversed": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    "part": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [F32, np.float16, np.int32])
def test_array_in_any_order_of_memory_reaches_the_target_as_it_reads(
    order: str, dtype: type, tmp_path: Path
) -> None:
    """IO03."""
    x: np.ndarray = (np.arange(24).reshape(2, 3, 4) - 12).astype(dtype)
    fed = ORDERS[order](x)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = exported_models.model(
        [node("Abs", ["x"], ["y"])],
        [exported_models.value("x", x.shape, kind)],
        [exported_models.value("y", x.shape, kind)],
    )
    made = simplified(tmp_path, proto, x=fed)

    assert not fed.flags.c_contiguous
    assert made.judge()["passed"]
    np.testing.assert_array_equal(made.golden_of(), np.abs(x))
    np.testing.assert_array_equal(made.emulated(), np.abs(x))
    (written,) = (made.made("samples") / "feeds").glob("*.npy")
    assert written.read_bytes().endswith(x.tobytes())


MEAN = np.array([123.675, 116.28, 103.53], F32)[:, None, None]
SCALE = np.array([0.0171247538, 0.0175070028, 0.0174291938], F32)[:, None, None]
METRIC = """
import numpy as np

def error(outputs, samples):
    return max(np.abs(o["y"] - s["labels"]["y"]).max() for o, s in zip(outputs, samples))
"""


def normalised(nchw: np.ndarray) -> np.ndarray:
    return (nchw - MEAN) * SCALE


def test_wrong_preprocessing_is_seen_by_the_end_metric_of_the_onnx_model(
    tmp_path: Path,
) -> None:
    """IO01, IO08. Both sides are fed the same, so comparing them shows nothing of it."""
    picture = np.random.default_rng(7).integers(0, 256, (1, 3, 4, 4)).astype(F32)
    feeds = {
        "right": normalised(picture),
        "twice": normalised(normalised(picture)),
        "not at all": picture,
        "bgr": normalised(picture[:, ::-1]),
    }
    label = feeds["right"].mean(axis=(2, 3), dtype=np.float64).astype(F32)
    proto = model(
        [node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=0)],
        [("x", [1, 3, 4, 4])],
        [("y", [1, 3])],
    )
    for name, fed in feeds.items():
        made = pipeline(tmp_path / name, [TensorSpec("x", "float32", (1, 3, 4, 4))])
        (made.folder / f"error_{name.replace(' ', '_')}.py").write_text(METRIC)
        made.sample({"x": fed, "label.y": label})
        made.ingest(proto)
        made.golden()
        made.simplify()
        metric = {
            "module": f"error_{name.replace(' ', '_')}.py",
            "factory": "error",
            "arguments": {},
            "direction": "lower",
        }
        verdict = made.judge(evaluate=metric)
        off = float(np.abs(fed.mean(axis=(2, 3)) - label).max())
        scores = made.document("evaluation.json")

        assert verdict["passed"]
        assert scores["onnx"] == pytest.approx(off, abs=1e-5)
        assert (scores["onnx"] < 1e-5) == (name == "right")


def test_both_sides_are_fed_the_bytes_of_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IO08."""
    x = np.random.default_rng(7).standard_normal((1, 3, 8)).astype(F32)
    proto = model([node("Abs", ["x"], ["y"])], [("x", [1, 3, 8])], [("y", [1, 3, 8])])
    fed: list[bytes] = []
    run = OnnxModel.run

    def watched(self: OnnxModel, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        fed.append(feeds["x"].tobytes())
        return run(self, feeds)

    monkeypatch.setattr(OnnxModel, "run", watched)
    simplified(tmp_path, proto, x=x).judge()

    # golden, simplify, check and infer.
    assert fed == [x.tobytes()] * 4
