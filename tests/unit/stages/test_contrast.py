from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import InternalError
from ascendflow.stages.contrast import DOCUMENTS, Contrast
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import ALTERNATIVE
from tests.contrasts import emulated, of_device
from tests.models import F32, resize_chain
from tests.stages import write_set

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = np.array([3, 4], F32)
OFF = np.array([3, 4.5], F32)


def context(root: Path, *, device: str = "cann") -> StageContext:
    """Lay out what both backends left; of two emulations the second is the device's."""
    ours = emulated()
    ours["metrics.json"]["behaviours"] = {"names": ["the one", "the other"], "nodes": ""}
    inputs = {"simplified": root / "simplified"}
    for backend, documents in (("emulator", ours), (device, of_device())):
        for role in DOCUMENTS:
            path = root / backend / role
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(documents[role]))
            inputs[f"{backend}/{role}"] = path
        inputs[f"{backend}/outputs"] = root / backend / "outputs"
    write_set(root / "emulator" / "outputs", [{"y": RIGHT}, {"y": OFF}])
    write_set(root / "emulator" / "outputs" / ALTERNATIVE, [{"y": RIGHT}, {"y": RIGHT}])
    write_set(root / device / "outputs", [{"y": RIGHT}, {"y": RIGHT}])
    (root / "simplified").mkdir()
    onnx.save(resize_chain("half_pixel"), root / "simplified" / "model.onnx")
    (root / "out").mkdir()
    return StageContext(
        config={"model": "pan", "backends": [device, "emulator"], "not_emulated": []},
        inputs=inputs,
        files={},
        outputs={role: root / "out" / role for role in Contrast.produces},
        folder=root,
        backend=None,
        seed=0,
        findings=Findings(),
    )


def test_outputs_are_compared_with_each_thing_that_cann_may_do(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    Contrast().run(ctx)
    document: dict[str, Any] = json.loads(ctx.outputs["contrast.json"].read_text())

    one, other = document["outputs"]
    # sqrt(0.5^2 / (3^2 + 4.5^2)) on the worst of the two samples.
    wanted = 0.5 / float(np.hypot(3, 4.5))
    assert one["behaviour"] == "the one"
    assert one["metrics"]["relative_euclidean_distance"] == pytest.approx(wanted)
    assert (other["behaviour"], other["problem"]) == ("the other", None)
    assert other["metrics"]["relative_euclidean_distance"] == 0
    assert document["samples"] == 2
    assert "the other" in ctx.outputs["contrast.html"].read_text()


def test_sides_are_told_by_what_they_are_and_not_by_their_names(tmp_path: Path) -> None:
    ctx = context(tmp_path, device="another")
    Contrast().run(ctx)
    document: dict[str, Any] = json.loads(ctx.outputs["contrast.json"].read_text())

    assert document["predicted"]["is_real_device"] is False
    assert document["measured"]["is_real_device"] is True


def test_two_emulations_are_no_prediction_of_a_device(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    pretended = tmp_path / "cann" / "conversion.json"
    pretended.write_text((tmp_path / "emulator" / "conversion.json").read_text())

    with pytest.raises(InternalError, match="one emulation and one device"):
        Contrast().run(ctx)
