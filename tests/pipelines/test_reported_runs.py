"""ONNX files that users reported trouble with, by `ascendflow init` and `doit`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests import exported_models
from tests.checkouts import ALL, Checkout, Run, finished
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return one with the real stages, and no model yet."""
    folder = tmp_path_factory.mktemp("reported") / "repository"
    return Checkout(folder, models=(), stand_ins=False)


def init(checkout: Checkout, name: str, proto: onnx.ModelProto) -> Run:
    """Run `ascendflow init NAME --onnx FILE`."""
    file = checkout.folder.parent / f"{name}.onnx"
    onnx.save(proto, file)
    command = [sys.executable, "-m", "ascendflow.cli", "init", name, "--onnx", str(file)]
    return finished(
        subprocess.Popen(
            command,
            cwd=checkout.folder,
            env={"PYTHONPATH": str(checkout.folder), "HOME": str(checkout.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    )


def sha256_of(path: Path) -> str:
    return f"sha256:{sha256(path.read_bytes()).hexdigest()}"


def artifact(checkout: Checkout, path: str) -> Any:
    return json.loads(checkout.path(f"build/{path}").read_text())


def test_valid_model_that_a_fusion_breaks_passes_and_both_sides_are_fed_the_same(
    checkout: Checkout,
) -> None:
    """OP08, FP12, IO08."""
    assert init(checkout, "norm", exported_models.rms_norm()).code == 0
    run = checkout.doit("model=norm")
    records = [checkout.record(stage, "norm") for stage in ("golden", "infer", "compare")]
    (made,) = checkout.record("samples", "norm")["outputs"].values()
    samples = checkout.path("build/norm/samples/samples")

    assert (run.code, run.executed) == (0, ALL)
    assert "golden: onnxruntime, graph optimisation off" in run.text
    assert artifact(checkout, "norm/report/report.json")["golden"] == {
        "runtime": "onnxruntime",
        "graph_optimization": "off",
    }
    assert {record["fingerprint"]["inputs"]["samples"] for record in records} == {
        made["digest"]
    }
    assert {name: entry["digest"] for name, entry in made["files"].items()} == {
        path.relative_to(samples).as_posix(): sha256_of(path)
        for path in samples.rglob("*")
        if path.is_file()
    }


def test_bfloat16_model_has_a_golden_and_no_traceback(checkout: Checkout) -> None:
    """DT05."""
    assert init(checkout, "bf16", exported_models.bfloat16_matmul()).code == 0
    run = checkout.doit("model=bf16")

    assert run.code == 3
    assert not run.has_traceback
    assert "onnxruntime cannot run 'mm_bf16' (MatMul, bfloat16); onnx.reference" in run.text
    assert re.search(r"node 'mm_bf16' \(MatMul\): .*tensor 'w' is bfloat16", run.text)


def test_empty_input_is_built_and_said_aloud_twice(checkout: Checkout) -> None:
    """SH05."""
    proto = model(
        [node("Reshape", ["x", "shape"], ["y"], allowzero=1)],
        [("x", [0, 8, 2])],
        [("y", ["a", "b", "c"])],
        {"shape": np.array([0, 0, 4], np.int64)},
        opset=18,
    )
    made = init(checkout, "empty", proto)
    run = checkout.doit("model=empty")

    assert made.code == run.code == 0
    assert "input 'x' is empty, since a size in its shape is 0" in made.text
    assert "output 'y' is empty in at least one sample" in run.text
    golden = artifact(checkout, "empty/golden/golden.json")
    assert golden["outputs"]["y"]["shape"] == [0, 0, 4]


def test_wrong_input_name_in_the_manifest_is_refused_with_the_models_own(
    checkout: Checkout,
) -> None:
    """SH01."""
    proto = model([node("Relu", ["images"], ["y"])], [("images", [1, 3])], [("y", [1, 3])])
    assert init(checkout, "named", proto).code == 0
    checkout.edit("pipelines/named/manifest.yaml", "name: images", "name: input")
    run = checkout.doit("model=named")

    assert run.code == 3
    assert not run.has_traceback
    assert "inputs[0].name is no input of named.onnx, got 'input'" in run.text
    assert "known here: images" in run.text
