from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from ascendflow.backends.cann.arguments import Paths, arguments
from ascendflow.backends.cann.out_nodes import with_outputs
from ascendflow.errors import StageError
from tests.exported_models import model, node, value
from tests.toolkits import config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def rewritten(tmp_path: Path) -> Path:
    """The file that the manifest's `Conv_80:0` and `Neg_81:0` became."""
    proto = model(
        [
            node("Relu", ["x"], ["a"], name="/renamed/Conv"),
            node("Neg", ["a"], ["b"], name="/renamed/Neg"),
        ],
        [value("x", [1, 4])],
        [value("b", [1, 4]), value("a", [1, 4])],
    )
    onnx.save(proto, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_outputs_are_told_by_the_names_that_the_converted_file_has(
    rewritten: Path, tmp_path: Path
) -> None:
    given = config(
        tmp_path,
        tmp_path,
        out_nodes=["Neg_81:0", "Conv_80:0"],
        output_type={"Conv_80:0": "FP16"},
    )

    made = arguments(with_outputs(given, rewritten), Paths())

    assert "--out_nodes=/renamed/Neg:0;/renamed/Conv:0" in made
    assert "--output_type=/renamed/Conv:0:FP16" in made


def test_without_names_nothing_changes(rewritten: Path, tmp_path: Path) -> None:
    given = config(tmp_path, tmp_path, output_type="FP16")

    assert with_outputs(given, rewritten) == given


def test_other_outputs_than_the_manifests_are_refused(
    rewritten: Path, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match="out_nodes names Neg_81:0, and the graph's"):
        with_outputs(config(tmp_path, tmp_path, out_nodes=["Neg_81:0"]), rewritten)
