from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from ascendflow.errors import ManifestError
from tests.unit.manifest import models

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.manifest.conftest import Repository

MANIFEST = """\
schema_version: 1
model: pan
source: {onnx: det.onnx}
inputs:
  - {name: image, dtype: float32, shape: [1, 3, 64, 64]}
  - {name: scale, dtype: float32, shape: []}
samples: {random: {count: 2}}
convert: {cann: "8.1", soc_version: Ascend310P3}
gate:
  outputs:
    logits: {cosine_similarity: {min: 0.99}}
"""


@pytest.fixture
def model(repository: Repository) -> Path:
    """Write a model of two inputs and two outputs, with a weight that IR 3 lists too."""
    shapes: dict[str, Any] = {"image": ["N", 3, "H", "W"], "scale": [], "w": [2]}
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        for name in ("logits", "boxes")
    ]
    nodes = [
        helper.make_node("Mul", ["image", "scale"], ["logits"]),
        helper.make_node("Abs", ["w"], ["boxes"]),
    ]
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    graph = helper.make_graph(nodes, "g", values, outputs, [weight])
    path = repository.folder / "det.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        pytest.param({}, None, id="whole"),
        pytest.param({"[1, 3, 64, 64]": "[2, 3, 8, 9]"}, None, id="open-sizes-are-free"),
        pytest.param({"    logits": '    "*"'}, None, id="every-output"),
        pytest.param(
            {"[1, 3, 64, 64]": "[1, 4, 64, 64]"},
            "5: inputs[0].shape must fit [N, 3, H, W], as det.onnx has it, got "
            "[1, 4, 64, 64]\n  hint: write shape: [1, 3, 64, 64]",
            id="shape",
        ),
        pytest.param(
            {"shape: []": "shape: [1]"},
            "6: inputs[1].shape must fit [], as det.onnx has it, got [1]\n"
            "  hint: give 0 sizes",
            id="rank",
        ),
        pytest.param(
            {"image, dtype: float32": "image, dtype: uint8"},
            "5: inputs[0].dtype is float32 in det.onnx, got 'uint8'\n"
            "  hint: write dtype: float32",
            id="dtype",
        ),
        pytest.param(
            {"name: image": "name: imgae"},
            "5: inputs[0].name is no input of det.onnx, got 'imgae'\n"
            "  hint: did you mean 'image'?",
            id="name",
        ),
        pytest.param(
            {"  - {name: scale, dtype: float32, shape: []}\n": ""},
            "4: inputs lacks 'scale', an input of det.onnx: float32 []\n"
            "  hint: add {name: scale, dtype: float32, shape: [...]}",
            id="lacking",
        ),
        pytest.param(
            {"    logits": "    logit"},
            "11: gate.outputs.logit is no output of det.onnx\n"
            "  hint: did you mean 'logits'?",
            id="output",
        ),
        pytest.param(
            {"    logits": "    zzz"},
            "11: gate.outputs.zzz is no output of det.onnx\n"
            "  hint: it has logits, boxes; '*' stands for all",
            id="output-unlike-any",
        ),
    ],
)
def test_inputs_and_outputs_are_held_against_the_file(
    repository: Repository, changed: dict[str, str], told: str | None
) -> None:
    text = MANIFEST
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new, 1)

    if told is None:
        assert repository.load(text)
        return
    with pytest.raises(ManifestError) as caught:
        repository.load(text)

    assert str(caught.value) == f"pipelines/pan/manifest.yaml:{told}"


@pytest.mark.parametrize(
    "content", [b"", b"text", b"\x3a\xff\xff"], ids=["empty", "text", "cut"]
)
def test_file_that_cannot_be_read_so_is_left_to_the_stage_that_reads_it(
    repository: Repository, content: bytes
) -> None:
    (repository.folder / "det.onnx").write_bytes(content)

    assert repository.load(MANIFEST)


def test_pipe_in_the_files_place_is_not_opened(repository: Repository) -> None:
    (repository.folder / "det.onnx").unlink()
    os.mkfifo(repository.folder / "det.onnx")

    with pytest.raises(ManifestError, match=r"source\.onnx must be a file"):
        repository.load(MANIFEST)


def test_output_whose_name_is_no_text_is_none_to_propose(
    repository: Repository, model: Path
) -> None:
    model.write_bytes(model.read_bytes().replace(b"boxes", b"\xffoxes"))

    with pytest.raises(ManifestError, match=r"hint: it has logits; '\*' stands for all"):
        repository.load(MANIFEST.replace("    logits", "    zzz"))


def test_weights_are_not_read(repository: Repository) -> None:
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    weight.raw_data = b"\xff" * 2_000_003  # no whole number of elements
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    node = helper.make_node("Add", ["x", "w"], ["logits"])
    models.save(repository.folder / "det.onnx", [value], [node], [weight])

    with pytest.raises(ManifestError, match=r"is no input of det\.onnx, got 'image'"):
        repository.load(MANIFEST)


LOADING = """
import sys
from pathlib import Path
from ascendflow.manifest.load import load_manifest
folder = Path(sys.argv[1])
load_manifest(folder / "manifest.yaml", repository=folder.parents[1], roots={})
print(*({"numpy", "onnx", "onnxruntime", "google.protobuf"} & set(sys.modules)))
"""


@pytest.mark.usefixtures("model")
def test_nothing_heavy_is_imported_for_it(repository: Repository) -> None:
    repository.load(MANIFEST)

    done = subprocess.run(
        [sys.executable, "-c", LOADING, repository.folder],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == []
