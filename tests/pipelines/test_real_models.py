"""Models that others made, through the stages that take an ONNX file in."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from ascendflow.graph.io_spec import outputs_of
from ascendflow.graph.run import OnnxModel
from ascendflow.tensors import TensorSpec
from tests.stage_runs import pipeline

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ASCENDFLOW_SHARED", ROOT.parent / "shared"))
MODELS = ("dnsmos-p808", "ppocr-cls", "ppocrv6-det-tiny", "silero-vad-openvino16k")


@pytest.mark.parametrize("name", MODELS)
def test_real_model_gives_its_published_outputs_after_simplification(
    name: str, tmp_path: Path
) -> None:
    folder = SHARED / "models" / name
    if not folder.is_dir():
        pytest.skip(f"the shared models are not at {SHARED} ($ASCENDFLOW_SHARED)")
    feed = json.loads((folder / "meta.json").read_text())["feed"]
    specs = [TensorSpec(key, dtype, tuple(shape)) for key, (dtype, shape) in feed.items()]
    fed = dict(np.load(folder / "input.npz"))
    expected = dict(np.load(folder / "expected.npz"))
    made = pipeline(tmp_path, specs)
    made.sample(fed)
    made.ingest(folder / "model.onnx")
    made.golden()
    made.simplify()
    exported, simplified = (
        made.made(role) / "model.onnx" for role in ("exported", "simplified")
    )
    found = OnnxModel(simplified).run(fed)

    for key, golden in OnnxModel(exported).run(fed).items():
        np.testing.assert_array_equal(golden, expected[key])
    for key, tensor in expected.items():
        # Folding constants reorders float32 sums: parts in 1e6 of the range.
        scale = max(float(np.ptp(tensor)), float(np.abs(tensor).max()))
        np.testing.assert_allclose(found[key], tensor, rtol=0, atol=1e-6 * scale)
    for spec in outputs_of(onnx.load(simplified)):
        assert spec.shape == expected[spec.name].shape
