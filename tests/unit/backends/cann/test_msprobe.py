"""msprobe's table as ours, by a stand-in that has its checks and its traps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.backends.cann.dump.results import Result
from ascendflow.backends.cann.msprobe import rows
from ascendflow.errors import InternalError, StageError, ToolFailedError
from tests.exported_models import model, node, value
from tests.oms import Device

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

    from ascendflow.backends.backend import Measured

GENERATOR = np.random.default_rng(4)
SHAPE = [1, 4]
FED = {name: GENERATOR.standard_normal(SHAPE).astype(np.float32) for name in "ba"}
"""Not in the order of the model's inputs, by which alone msprobe goes."""

NAMES = {("conv_relu", 0): "r", ("split", 1): "s1"}


def net() -> onnx.ModelProto:
    nodes = [
        node("Sub", ["a", "b"], ["d"], name="sub"),
        node("Mul", ["d", "d"], ["m"], name="mul"),
        node("Neg", ["m"], ["y"], name="neg"),
    ]
    return model(nodes, [value("a", SHAPE), value("b", SHAPE)], [value("y", SHAPE)])


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


@pytest.fixture
def om(device: Device) -> Path:
    return device.built(net(), dict.fromkeys("ab", SHAPE))


def measured(device: Device, om: Path) -> list[Measured]:
    onnx_file = device.folder / "in" / "model.onnx"
    return list(Cann().measured(om, onnx_file, FED, options=device.options()))


def test_table_is_given_by_onnx_tensors_of_our_sample(device: Device, om: Path) -> None:
    kept = {path.name: path.stat().st_mode for path in om.iterdir()}

    found = {each.tensor: each for each in measured(device, om)}

    assert list(found) == ["d", "m", "y"]
    right = FED["a"] - FED["b"]
    largest = float(np.abs(right - right.astype(np.float16).astype(np.float32)).max())
    metrics = found["d"].metrics
    assert abs(metrics["max_absolute_error"] - largest) <= 1e-6  # it prints six decimals
    assert metrics["cosine_similarity"] == pytest.approx(1, abs=1e-5)
    assert all(each.problem is None for each in found.values())
    # It changes the permissions of what it is given.
    assert {path.name: path.stat().st_mode for path in om.iterdir()} == kept


def test_tool_that_fails_or_leaves_no_table_is_told(device: Device, om: Path) -> None:
    device.says(msprobe="fails")
    with pytest.raises(ToolFailedError, match=r"(?s)msprobe exited .*107001") as raised:
        measured(device, om)
    assert "mindstudio-probe" in str(raised.value.hint)
    device.says(msprobe="no table")
    with pytest.raises(StageError, match="left 0 tables, not one"):
        measured(device, om)
    device.says(msprobe="two tables")
    with pytest.raises(StageError, match="left 2 tables, not one"):
        measured(device, om)
    with pytest.raises(InternalError):
        Cann().measured(om, om, FED)


def test_om_of_a_newer_cann_is_refused_before_the_tool_runs(
    device: Device, om: Path
) -> None:
    device.says(msprobe="fails")
    for info in device.toolkit.glob("*/*.info"):
        info.write_text(info.read_text().replace("8.1.RC1", "8.0.RC3"))

    with pytest.raises(StageError, match=r"built by CANN 8.1.RC1, and 8.0.RC3 is to run"):
        measured(device, om)


def test_input_that_the_two_models_take_otherwise_is_refused(device: Device) -> None:
    om = device.built(net(), dict.fromkeys("ab", SHAPE), input_fp16_nodes=["b"])
    with pytest.raises(StageError, match="'b' is float16 in the OM and float32 in ONNX"):
        measured(device, om)


def result(**values: object) -> Result:
    good = {"cosine_similarity": 1.0, "relative_euclidean_distance": 0.0}
    given: dict[str, object] = {
        "number": "1",
        "op_type": "Conv2D",
        "device_ops": "conv_relu",
        "device_dtype": "float16",
        "nodes": "conv,relu",
        "golden_dtype": "float32",
        "tensor": "conv_relu:output:0",
        "shape": "[1]",
        "metrics": good,
        "reason": "",
        "is_output": None,
        "said": "NO",
        **values,
    }
    return Result(**given)  # type: ignore[arg-type]


def test_only_outputs_that_onnx_has_are_rows() -> None:
    others = [
        result(tensor="conv_relu:input:0"),
        result(tensor="conv_relu:output:1"),
        result(tensor="other:output:0"),
        result(nodes="*"),
        result(tensor="*"),
    ]
    (found,) = rows([*others, result(tensor="split:output:1")], NAMES)
    assert (found.tensor, found.problem) == ("s1", None)


def test_what_its_verdict_lets_pass_does_not_pass_here() -> None:
    nan = {"cosine_similarity": math.nan, "relative_euclidean_distance": math.nan}
    (found,) = rows([result(metrics=nan, said="NO")], NAMES)
    assert math.isnan(found.metrics["cosine_similarity"])

    (found,) = rows([result(metrics=nan, reason="The data size differs.")], NAMES)
    assert found.problem == "it was not compared: The data size differs."


def test_booleans_are_judged_by_the_cosine_that_they_have() -> None:
    kind = {"device_dtype": "bool", "golden_dtype": "bool"}
    (good,) = rows([result(**kind)], NAMES)
    assert (good.metrics, good.problem) == ({}, None)
    low = {"cosine_similarity": 0.5, "relative_euclidean_distance": math.nan}
    (bad,) = rows([result(metrics=low, **kind)], NAMES)
    assert bad.problem == "cosine_similarity is 0.5, the limit 0.99"
