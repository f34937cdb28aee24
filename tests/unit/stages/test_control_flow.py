"""Graphs that branch or hold sequences, through the stages that take an ONNX file in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph import simplifier
from ascendflow.tensors import TensorSet, TensorSpec
from tests import control_flow_models as models
from tests.exported_models import x_of
from tests.models import run
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([10, 20], np.float32)
CONDITION = [TensorSpec("c", "bool", ())]


def simplified(
    tmp_path: Path,
    proto: onnx.ModelProto,
    specs: list[TensorSpec],
    *feeds: dict[str, np.ndarray],
) -> Pipeline:
    """Run all stages up to check; they hold every model to its golden."""
    made = pipeline(tmp_path, specs)
    made.sample(*feeds)
    made.ingest(proto)
    made.golden()
    made.simplify()
    made.run("rewrite", rules=[])
    made.run("check", allow_lossy=False)
    return made


def outputs(made: Pipeline, name: str) -> list[list[float]]:
    """Run the rewritten model on every sample."""
    written = onnx.load(made.made("rewritten") / "model.onnx")
    onnx.checker.check_model(written, full_check=True)
    feeds = TensorSet(made.made("samples") / "feeds")
    return [run(written, fed)[name].tolist() for fed in feeds]


def golden(made: Pipeline, name: str) -> list[list[float]]:
    return [each[name].tolist() for each in TensorSet(made.made("golden") / "onnx")]


@pytest.mark.parametrize(
    ("holds", "expected"), [(True, [11, 22]), (False, [13, 24])], ids=["then", "else"]
)
def test_branch_with_a_constant_condition_is_decided(
    holds: bool, expected: list[float], tmp_path: Path
) -> None:
    """GR08."""
    proto = models.constant_condition(holds=holds)
    made = simplified(tmp_path, proto, x_of(2), {"x": X})
    written = onnx.load(made.made("simplified") / "model.onnx")

    assert golden(made, "z") == outputs(made, "z") == [expected]
    assert "If" not in {each.op_type for each in written.graph.node}


def test_both_branches_of_a_fed_condition_stay(tmp_path: Path) -> None:
    """GR09."""
    fed = [{"c": np.array(holds)} for holds in (True, False)]
    made = simplified(tmp_path, models.condition_fed(), CONDITION, *fed)

    assert golden(made, "y") == outputs(made, "y") == [[1, 2], [3, 4]]


def test_both_branches_of_a_computed_condition_stay(tmp_path: Path) -> None:
    """GR09."""
    made = simplified(tmp_path, models.condition_computed(), x_of(2), {"x": X}, {"x": -X})

    assert golden(made, "y") == outputs(made, "y") == [[-10, -20], [-7, -16]]


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        pytest.param(models.sequence_filled(), [10, 20, -10, -20], id="filled"),
        pytest.param(models.sequence_of_constants(), [15, 26], id="folded"),
    ],
)
def test_sequence_stays_in_order(
    proto: onnx.ModelProto, expected: list[float], tmp_path: Path
) -> None:
    """GR11."""
    made = simplified(tmp_path, proto, x_of(2), {"x": X})

    assert golden(made, "y") == outputs(made, "y") == [expected]


def test_simplification_that_takes_the_wrong_branch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GR09."""
    wrong = models.condition_fed()
    branches = wrong.graph.node[0].attribute
    branches[0].name, branches[1].name = branches[1].name, branches[0].name
    monkeypatch.setattr(
        simplifier, "_onnxsim", lambda: lambda _path, **_options: (wrong, True)
    )

    with pytest.raises(StageError, match="simplified model differs from the exported"):
        simplified(tmp_path, models.condition_fed(), CONDITION, {"c": np.array(True)})
