"""Models that others made, from `ascendflow init` through every stage to the report."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.graph.io_spec import outputs_of
from tests.checkouts import ALL, Checkout
from tests.models import run as run_in_onnxruntime

if TYPE_CHECKING:
    from pathlib import Path

MODELS = {
    "dnsmos-p808": ["--shape", "input_1:1,900,120"],
    "ppocr-cls": ["--shape", "x:2,3,48,192"],
    "ppocrv6-det-tiny": ["--shape", "x:1,3,480,640"],
    "silero-vad-openvino16k": [],
}
"""Folder of the shared models -> the shapes that its file leaves open."""
RANDOM = "samples: {random: {seed: 0, count: 4}}"
FILES = 'samples: {files: "inputs/*.npz"}'


@dataclass(frozen=True)
class Built:
    """A model of somebody else's that went through all stages.

    Attributes:
        name: of the model.
        source: the folder it was taken from.
        checkout: where it was built.
        stages: those that were executed.
        code: the exit code.
    """

    name: str
    source: Path
    checkout: Checkout
    stages: list[str]
    code: int

    def path(self, relative: str) -> Path:
        return self.checkout.path(f"build/{self.name}/{relative}")

    def document(self, relative: str) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.path(relative).read_text())
        return read

    def outputs(self, relative: str) -> dict[str, np.ndarray]:
        """Run one of the models in onnxruntime on the published input."""
        fed = dict(np.load(self.source / "input.npz"))
        return run_in_onnxruntime(onnx.load(self.path(relative)), fed)

    @property
    def expected(self) -> dict[str, np.ndarray]:
        return dict(np.load(self.source / "expected.npz"))


@pytest.fixture(scope="module", params=MODELS)
def built(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Built:
    name = request.param
    source = shared / "models" / name
    if not source.is_dir():
        pytest.skip(f"no such model at {source}; ASCENDFLOW_SHARED names the material")
    folder = tmp_path_factory.mktemp("real") / "repository"
    checkout = Checkout(folder, models=(), stand_ins=False)
    made = checkout.doit("init", name, "--onnx", str(source / "model.onnx"), *MODELS[name])
    assert made.code == 0, made.text
    inputs = checkout.path(f"pipelines/{name}/inputs")
    inputs.mkdir()
    shutil.copyfile(source / "input.npz", inputs / "published.npz")
    checkout.edit(f"pipelines/{name}/manifest.yaml", RANDOM, FILES)
    run = checkout.doit(f"model={name}")
    return Built(name, source, checkout, run.executed, run.code)


@pytest.mark.slow
def test_every_stage_runs_and_the_gate_is_passed(built: Built) -> None:
    verdict = built.document("gate/verdict.json")

    assert (built.code, built.stages) == (0, ALL)
    assert (verdict["passed"], verdict["backend"]) == (True, "emulator")
    assert {check["subject"] for check in verdict["checks"]} == built.expected.keys()
    assert built.path("report/report.html").is_file()


@pytest.mark.slow
def test_second_run_executes_nothing(built: Built) -> None:
    again = built.checkout.doit(f"model={built.name}")

    assert (again.code, again.executed, again.restored) == (0, [], [])


@pytest.mark.slow
def test_exported_model_gives_the_published_outputs_bit_for_bit(built: Built) -> None:
    found = built.outputs("export/exported/model.onnx")

    assert found.keys() == built.expected.keys()
    for key, tensor in built.expected.items():
        np.testing.assert_array_equal(found[key], tensor, strict=True)


@pytest.mark.slow
def test_simplified_model_gives_the_published_outputs_within_rounding(
    built: Built,
) -> None:
    found = built.outputs("simplify/simplified/model.onnx")
    document = built.document("simplify/simplify.json")

    assert document["setting"] == "full"
    assert document["nodes_after"] < document["nodes_before"]
    for key, tensor in built.expected.items():
        # Folding constants reorders float32 sums: parts in 1e6 of the range.
        scale = max(float(np.ptp(tensor)), float(np.abs(tensor).max()))
        np.testing.assert_allclose(found[key], tensor, rtol=0, atol=1e-6 * scale)


@pytest.mark.slow
def test_rewritten_model_gives_the_simplified_ones_outputs_bit_for_bit(
    built: Built,
) -> None:
    simplified = built.outputs("simplify/simplified/model.onnx")
    rewritten = built.outputs("rewrite/rewritten/model.onnx")

    assert rewritten.keys() == simplified.keys()
    for key, tensor in simplified.items():
        np.testing.assert_array_equal(rewritten[key], tensor, strict=True)


@pytest.mark.slow
def test_declared_output_shapes_are_the_real_ones(built: Built) -> None:
    for relative in ("simplify/simplified/model.onnx", "rewrite/rewritten/model.onnx"):
        for spec in outputs_of(onnx.load(built.path(relative))):
            assert spec.shape == built.expected[spec.name].shape
    golden = built.document("golden/golden.json")["outputs"]
    assert {name: tuple(spec["shape"]) for name, spec in golden.items()} == {
        name: tensor.shape for name, tensor in built.expected.items()
    }
