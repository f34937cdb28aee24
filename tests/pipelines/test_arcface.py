"""The second example: passes pairwise as shipped; fails where its numbers leave float16."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.tensors import TensorSet
from tests.checkouts import ALL, SOURCE, Checkout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Run

pytest.importorskip("torch", reason="the example is a PyTorch model")
pytestmark = pytest.mark.slow

PAIRS = {
    "torch-onnx": ("golden/golden/torch", "golden/golden/onnx"),
    "onnx-target": ("golden/golden/onnx", "infer/outputs"),
    "torch-target": ("golden/golden/torch", "infer/outputs"),
}


@pytest.fixture(scope="module")
def arcface(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    folder = tmp_path_factory.mktemp("arcface")
    checkout = Checkout(folder, models=(), stand_ins=False)
    source = SOURCE / "pipelines" / "arcface"
    shutil.copytree(source, checkout.path("pipelines/arcface"))
    return checkout


@pytest.fixture(scope="module")
def as_shipped(arcface: Checkout) -> Run:
    return arcface.doit("model=arcface")


@pytest.fixture(scope="module")
def uncalibrated(arcface: Checkout, as_shipped: Run) -> Run:
    assert as_shipped.code == 0
    arcface.edit("pipelines/arcface/manifest.yaml", "calibrated: true", "calibrated: false")
    return arcface.doit("model=arcface")


def document(checkout: Checkout, path: str) -> Any:
    return json.loads(checkout.path(f"build/arcface/{path}").read_text())


def embeddings(folder: Path) -> np.ndarray:
    """Read one model's embeddings in float64; [samples, 512]."""
    tensors = TensorSet(folder)
    loaded = [tensors.load(index, "embedding") for index in range(len(tensors))]
    return np.concatenate(loaded).astype(np.float64)


def test_it_passes_pairwise_as_shipped(arcface: Checkout, as_shipped: Run) -> None:
    checks = document(arcface, "gate/verdict.json")["checks"]
    limits = {"cosine_similarity": {"min": 0.999}, "max_absolute_error": {"max": 0.001}}

    assert (as_shipped.code, as_shipped.executed) == (0, ALL)
    assert {(check["pair"], check["metric"]) for check in checks} == {
        (pair, metric) for pair in PAIRS for metric in limits
    }
    assert all(check["threshold"] == limits[check["metric"]] for check in checks)
    assert "emulated, not run on a device" in as_shipped.text


@pytest.mark.parametrize("pair", PAIRS)
def test_the_numbers_that_passed_are_those_numpy_computes(
    arcface: Checkout, as_shipped: Run, pair: str
) -> None:
    assert as_shipped.code == 0
    golden, other = (embeddings(arcface.path(f"build/arcface/{p}")) for p in PAIRS[pair])
    found = {
        check["metric"]: check["value"]
        for check in document(arcface, "gate/verdict.json")["checks"]
        if check["pair"] == pair
    }
    lengths = np.linalg.norm(golden, axis=1) * np.linalg.norm(other, axis=1)
    cosines = (golden * other).sum(1) / lengths

    assert len(golden) >= 8
    np.testing.assert_allclose(np.linalg.norm(golden, axis=1), 1, atol=1e-6)
    assert found["cosine_similarity"] == pytest.approx(cosines.min(), abs=1e-12)
    assert found["max_absolute_error"] == pytest.approx(np.abs(golden - other).max())
    assert cosines.min() >= 0.999
    assert np.abs(golden - other).max() <= 0.001


def test_without_calibration_only_the_target_fails_and_a_convolution_is_named(
    arcface: Checkout, uncalibrated: Run
) -> None:
    verdict = document(arcface, "gate/verdict.json")
    failed = {check["pair"] for check in verdict["checks"] if not check["passed"]}
    node = verdict["first_divergent_node"]

    assert uncalibrated.code == 1
    assert failed == {"onnx-target", "torch-target"}
    assert (node["op_type"], node["target_op"]) == ("Conv", "Conv2D")
    assert f"{node['name']} comes from stages.3." in uncalibrated.text
    assert "overflow: in ONNX its values reach" in uncalibrated.text


def test_without_calibration_the_samples_are_not_made_again(uncalibrated: Run) -> None:
    assert uncalibrated.executed == [stage for stage in ALL if stage != "samples"]


def test_calibrated_again_all_is_restored(arcface: Checkout, uncalibrated: Run) -> None:
    assert uncalibrated.code == 1
    arcface.edit("pipelines/arcface/manifest.yaml", "calibrated: false", "calibrated: true")
    again = arcface.doit("model=arcface")

    assert (again.code, again.executed) == (0, [])
