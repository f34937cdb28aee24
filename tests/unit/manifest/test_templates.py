from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.manifest import source
from ascendflow.manifest.init import initialise
from ascendflow.manifest.load import load_manifest
from ascendflow.manifest.onnx_file import ModelInput
from ascendflow.manifest.templates import onnx_manifest, quoted
from ascendflow.metrics.divergent import DISTANCE_LIMIT
from ascendflow.tasks.commands import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from ascendflow.manifest.models import Manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    initialise("new", repository=tmp_path, commands=COMMANDS)
    return tmp_path / "pipelines" / "new"


@pytest.fixture
def manifest(folder: Path) -> Manifest:
    repository = folder.parents[1]
    loaded = load_manifest(folder / "manifest.yaml", repository=repository, roots={})
    return loaded.manifest


def module(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"template_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def samples_of(folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    data = module(folder / "data.py")
    samples: list[dict[str, Any]] = list(data.test_samples(**manifest.samples.arguments))
    return samples


def test_torch_template_names_functions_that_exist(
    folder: Path, manifest: Manifest
) -> None:
    assert manifest.source.torch is not None
    assert manifest.evaluate is not None
    assert manifest.samples.factory == "test_samples"
    assert f"def {manifest.source.torch.factory}(" in (folder / "model.py").read_text()
    assert f"def {manifest.evaluate.factory}(" in (folder / "metric.py").read_text()


def test_gates_of_both_templates_see_a_change_of_scale(manifest: Manifest) -> None:
    """And are as wide as what a node must hold so as not to diverge."""
    text = onnx_manifest("det", "det.onnx", [(ModelInput("x", "float32", (2,)), [2])], {})
    of_onnx = source.parse(text.encode()).data["gate"]["outputs"]["*"]
    of_torch = {
        metric: limit.model_dump(exclude_none=True)
        for metric, limit in manifest.gate.outputs["*"].items()
    }

    assert of_onnx == of_torch
    assert of_onnx["cosine_similarity"] == {"min": 0.999}
    assert of_onnx["relative_euclidean_distance"] == {"max": DISTANCE_LIMIT}


def test_samples_of_the_template_fit_its_manifest(folder: Path, manifest: Manifest) -> None:
    samples = samples_of(folder, manifest)

    (declared,) = manifest.inputs
    assert len({sample["id"] for sample in samples}) == len(samples) == 8
    for sample in samples:
        (image,) = sample["feeds"].values()
        assert (image.dtype.name, image.shape) == (declared.dtype, declared.shape)
        assert 0 < sample["labels"]["mask"].mean() < 0.5


@pytest.mark.slow
def test_model_of_the_template_does_its_work(folder: Path, manifest: Manifest) -> None:
    torch = pytest.importorskip("torch")
    assert manifest.source.torch is not None
    model = module(folder / "model.py").build(**manifest.source.torch.arguments).eval()
    samples = samples_of(folder, manifest)

    with torch.no_grad():
        outputs = [
            {"output": model(torch.from_numpy(sample["feeds"]["image"])).numpy()}
            for sample in samples
        ]

    # Its own threshold: brightness above one half; only the rectangle's edges are blurred.
    assert module(folder / "metric.py").pixel_accuracy(outputs, samples) > 0.95
    assert "template_model" not in sys.modules


@pytest.mark.parametrize(
    "text",
    [
        *("det.onnx", "two words", "no", "null", "1e3", "12", "a: b", "#x", "'", '"', "*a"),
        *("é", "模型", "𠮷", "😀", "\x85", "\u2028", "\ufeff", "a\nb"),
    ],
)
def test_any_name_is_read_back_as_it_is(text: str) -> None:
    read = source.parse(f"name: {quoted(text)}\nflow: [{quoted(text)}]\n".encode())

    assert read.problems == []
    assert read.data == {"name": text, "flow": [text]}
    assert json.dumps(read.data)


@pytest.mark.parametrize(
    "name",
    [
        *("a" * length for length in (1023, 1024, 1025, 70_000)),
        *('"é' * length for length in (340, 341, 342, 700)),
    ],
    ids=lambda name: f"{name[0]}-{len(name)}",
)
def test_an_input_of_a_long_name_has_its_range(name: str) -> None:
    """A key of more than 1024 characters is none to YAML, unless it is said to be one."""
    given = (ModelInput(name, "int64", (2,)), (2,))
    other = (ModelInput("x", "int32", (2,)), (2,))

    read = source.parse(onnx_manifest("m", "m.onnx", [given, other], {}).encode())

    assert read.problems == []
    assert read.data["inputs"][0]["name"] == name
    ranges = {name: [0, 2], "x": [0, 2]}
    assert read.data["samples"]["random"]["ranges"] == ranges


def test_letters_are_spelled_as_a_reader_knows_them() -> None:
    assert quoted("模型 1") == '"模型 1"'
