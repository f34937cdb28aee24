"""ONNX files in the states in which people have them, from `ascendflow init` on."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.tensors import TensorSet
from tests import exported_models as models
from tests.checkouts import ALL, Checkout
from tests.exported_models import model, node, save_with_external_data, value

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Run

pytestmark = pytest.mark.slow

RANDOM = "samples: {random: {seed: 0, count: 4}}"
FILES = 'samples: {files: "inputs/*.npz"}'


def begin(checkout: Checkout, source: Path, *options: str) -> Run:
    """Start model `net` from an ONNX file."""
    return checkout.doit("init", "net", "--onnx", str(source), *options)


def feed(checkout: Checkout, *samples: dict[str, np.ndarray]) -> None:
    """Let these be the samples of `net`."""
    folder = checkout.path("pipelines/net/inputs")
    folder.mkdir()
    for number, arrays in enumerate(samples):
        tensors: dict[str, Any] = dict(arrays)
        np.savez(folder / f"{number}.npz", **tensors)
    checkout.edit("pipelines/net/manifest.yaml", RANDOM, FILES)


def document(checkout: Checkout, path: str) -> Any:
    return json.loads(checkout.path(f"build/net/{path}").read_text())


def golden(checkout: Checkout, name: str) -> list[Any]:
    written = TensorSet(checkout.path("build/net/golden/golden/onnx"))
    return [outputs[name].tolist() for outputs in written]


def wrong_shapes() -> onnx.ModelProto:
    """Make a model that declares [99] for what is [3], and [1, 7] for what has no end.

    How long `found` is depends on the values, so that no inference can correct it.
    """
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Neg", ["r"], ["y"]),
        node("NonZero", ["r"], ["found"]),
    ]
    outputs = [value("y", [99]), value("found", [1, 7], TensorProto.INT64)]
    proto = model(nodes, [value("x", [3])], outputs)
    proto.graph.value_info.append(value("r", [2, 2]))
    return proto


def test_declared_output_shapes_are_not_believed(empty: Checkout, tmp_path: Path) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    onnx.save(wrong_shapes(), tmp_path / "wrong.onnx")
    begin(checkout, tmp_path / "wrong.onnx")
    feed(checkout, {"x": np.array([-1, 2, 3], np.float32)})
    run = checkout.doit("model=net")
    shapes = {
        name: spec["shape"]
        for name, spec in document(checkout, "golden/golden.json")["outputs"].items()
    }

    assert (run.code, run.executed) == (0, ALL)
    assert shapes == {"y": [3], "found": [1, 2]}
    assert golden(checkout, "y") == [[0, -2, -3]]
    assert golden(checkout, "found") == [[[1, 2]]]
    written = onnx.load(checkout.path("build/net/rewrite/rewritten/model.onnx"))
    onnx.checker.check_model(written, full_check=True)
    assert [len(d.type.tensor_type.shape.dim) for d in written.graph.output] == [1, 2]
    assert written.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 3


def test_other_scripts_and_spaces_in_paths_and_names(
    empty: Checkout, tmp_path: Path
) -> None:
    """GR14."""
    checkout = empty.copied_to(tmp_path / "仓库 v1")
    nodes = [node("Relu", ["输入"], ["输出/0:a"], name="激活 层")]
    proto = model(nodes, [value("输入", [2])], [value("输出/0:a", [2])])
    source = tmp_path / "模型 v1" / "士.onnx"
    source.parent.mkdir()
    onnx.save(proto, source)
    made = begin(checkout, source)
    feed(checkout, {"输入": np.array([-1, 1], np.float32)})
    run = checkout.doit("model=net")

    assert made.code == 0
    assert checkout.path("pipelines/net/士.onnx").read_bytes() == source.read_bytes()
    assert (run.code, run.executed) == (0, ALL)
    assert golden(checkout, "输出/0:a") == [[0, 1]]
    assert "输出/0:a" in run.text
    nodes_seen = document(checkout, "compare/metrics.json")["nodes"]
    assert [each["node"] for each in nodes_seen] == ["激活 层"]


@pytest.mark.parametrize("separator", [":", ";", ",", "="])
def test_input_name_that_atc_cannot_be_told_is_refused_at_once(
    separator: str, empty: Checkout, tmp_path: Path
) -> None:
    """GR14."""
    name = f"images{separator}0"
    proto = model([node("Relu", [name], ["y"])], [value(name, [2])], [value("y", [2])])
    onnx.save(proto, tmp_path / "m.onnx")
    made = begin(empty, tmp_path / "m.onnx")

    assert made.code == 3
    assert f"'{name}'" in made.text
    assert "--input_shape cannot express such a name" in made.text
    assert not made.has_traceback
    assert not empty.path("pipelines").exists()


def test_weights_beside_the_file_are_part_of_what_was_built(
    empty: Checkout, tmp_path: Path
) -> None:
    """GR25: the .onnx has the same bytes with any weights."""
    checkout = empty.copied_to(tmp_path / "repository")
    sources = [
        save_with_external_data(models.matmul(seed=seed), tmp_path / f"v{seed}")
        for seed in (1, 2)
    ]
    matrices = [np.fromfile(s.with_name("weights.bin"), np.float32) for s in sources]
    begin(checkout, sources[0])
    x = np.ones((1, 64), np.float32)
    feed(checkout, {"x": x})
    first = checkout.doit("golden:net")
    before = golden(checkout, "y")
    inside = checkout.path("pipelines/net/weights.bin")
    shutil.copyfile(sources[1].with_name("weights.bin"), inside)
    explained = checkout.doit("explain", "export", "model=net").text
    second = checkout.doit("golden:net")
    after = golden(checkout, "y")

    assert sources[0].read_bytes() == sources[1].read_bytes()
    assert (sorted(first.executed), second.executed) == (
        ["export", "golden", "samples"],
        ["export", "golden"],
    )
    assert "weights.bin" in explained
    for found, weight in ((before, matrices[0]), (after, matrices[1])):
        # 64 products of size ~1 in float32, in onnxruntime's order.
        expected = x.astype(np.float64) @ weight.reshape(64, 64)
        np.testing.assert_allclose(found[0], expected, atol=1e-4)
    assert np.abs(np.subtract(before, after)).max() > 10


def weights(checkout: Checkout, model: str = "net") -> np.ndarray:
    """Read the weights of the exported model; they are inside of it."""
    written = onnx.load(checkout.path(f"build/{model}/export/exported/model.onnx"))
    return onnx.numpy_helper.to_array(written.graph.initializer[0]).ravel()


def versions(folder: Path) -> list[np.ndarray]:
    """Write v1/ and v2/: the same model.onnx, other weights beside it."""
    saved = [
        save_with_external_data(models.matmul(seed=seed), folder / f"v{seed}")
        for seed in (1, 2)
    ]
    assert saved[0].read_bytes() == saved[1].read_bytes()
    return [np.fromfile(s.with_name("weights.bin"), np.float32) for s in saved]


@pytest.fixture
def at_v1(empty: Checkout, tmp_path: Path) -> tuple[Checkout, np.ndarray, np.ndarray]:
    """Return a checkout whose net reads models/v1 where it lies, and both weights."""
    checkout = empty.copied_to(tmp_path / "repository")
    v1, v2 = versions(checkout.path("models"))
    begin(checkout, checkout.path("models/v1/model.onnx"), "--link")
    return checkout, v1, v2


def test_other_file_of_the_same_bytes_has_its_own_weights(
    at_v1: tuple[Checkout, np.ndarray, np.ndarray],
) -> None:
    """GR25: the manifest is turned to it."""
    checkout, v1, v2 = at_v1
    first = checkout.doit("export:net")
    before = weights(checkout)
    checkout.edit("pipelines/net/manifest.yaml", "v1/model.onnx", "v2/model.onnx")
    second = checkout.doit("export:net")
    after = weights(checkout)
    checkout.edit("pipelines/net/manifest.yaml", "v2/model.onnx", "v1/model.onnx")
    back = checkout.doit("export:net")

    assert first.executed == second.executed == ["export"]
    np.testing.assert_array_equal(before, v1)
    np.testing.assert_array_equal(after, v2)
    assert (back.executed, back.restored) == ([], ["export"])
    np.testing.assert_array_equal(weights(checkout), v1)


def test_link_to_a_file_may_be_turned_to_another_of_the_same_bytes(
    at_v1: tuple[Checkout, np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    """GR25."""
    checkout, v1, v2 = at_v1
    current = checkout.path("models/current")
    current.symlink_to("v1")
    checkout.edit("pipelines/net/manifest.yaml", "v1/model.onnx", "current/model.onnx")
    checkout.doit("export:net")
    before = weights(checkout)
    current.unlink()
    current.symlink_to("v2")
    checkout.doit("export:net")
    after = weights(checkout)
    current.unlink()
    current.symlink_to(tmp_path)
    outside = checkout.doit("export:net")

    np.testing.assert_array_equal(before, v1)
    np.testing.assert_array_equal(after, v2)
    assert outside.code == 3
    assert "leads out of the repository" in outside.text


def test_model_with_the_same_file_as_another_keeps_its_own_weights(
    empty: Checkout, tmp_path: Path
) -> None:
    """GR25: one looks at the file where it lies, the other has a copy."""
    checkout = empty.copied_to(tmp_path / "repository")
    v1, v2 = versions(tmp_path / "shared")
    source = str(tmp_path / "shared" / "v1" / "model.onnx")
    checkout.doit("init", "linked", "--onnx", source, "--link")
    checkout.doit("init", "copied", "--onnx", source)
    first = checkout.doit("export:linked", "export:copied")
    v2.tofile(tmp_path / "shared" / "v1" / "weights.bin")
    second = checkout.doit("export:linked", "export:copied")

    assert (first.executed, first.restored) == (["export"], ["export"])
    assert (second.executed, second.restored) == (["export"], [])
    assert "source folder:weights.bin, which it read, changed" in second.text
    np.testing.assert_array_equal(weights(checkout, "linked"), v2)
    np.testing.assert_array_equal(weights(checkout, "copied"), v1)


def test_file_without_its_weights_names_tensor_and_file(
    empty: Checkout, tmp_path: Path
) -> None:
    """GR25."""
    checkout = empty.copied_to(tmp_path / "repository")
    source = save_with_external_data(models.matmul(), tmp_path / "whole")
    begin(checkout, source)
    checkout.path("pipelines/net/weights.bin").unlink()
    run = checkout.doit("export:net")
    source.with_name("weights.bin").unlink()
    made = checkout.doit("init", "other", "--onnx", str(source))

    assert (run.code, made.code) == (2, 3)
    for text in (run.text, made.text):
        assert "tensor 'w': its external data 'weights.bin' does not exist" in text
        assert "beside the ONNX file" in text
    assert not run.has_traceback
    assert not made.has_traceback


def test_weights_outside_the_folder_are_never_read(empty: Checkout, tmp_path: Path) -> None:
    """GR26: not even where the path leads to a file that is there."""
    checkout = empty.copied_to(tmp_path / "repository")
    onnx.save(models.matmul(), tmp_path / "plain.onnx")
    begin(checkout, tmp_path / "plain.onnx")
    checkout.path("pipelines/outside.bin").write_bytes(bytes(64 * 64 * 4))
    proto = models.matmul()
    models.say_external(
        proto, location="../outside.bin", offset="0", length=str(64 * 64 * 4)
    )
    escaping = checkout.path("pipelines/net/plain.onnx")
    escaping.write_bytes(proto.SerializeToString())
    run = checkout.doit("export:net")
    made = checkout.doit("init", "other", "--onnx", str(escaping))

    assert (run.code, made.code) == (2, 3)
    assert "tensor 'w': its external data '../outside.bin' leaves the folder" in run.text
    assert "tensor 'w': its external data '../outside.bin' must be a file" in made.text
    assert not checkout.path("build/net/export/exported").exists()


def without_opset() -> onnx.ModelProto:
    proto = models.relu()
    del proto.opset_import[:]
    return proto


BROKEN = {
    "twice": (models.tensor_made_twice, "tensor 't' is defined twice"),
    "training": (models.training_batch_norm, "BatchNormalization 'bn1' is in training"),
    "unversioned": (without_opset, "the file has no opset_import"),
}


def sound(broken: onnx.ModelProto) -> onnx.ModelProto:
    """Pass the input of a broken model on; nothing is wrong with that."""
    graph = broken.graph
    (x,), y = graph.input, graph.output[0]
    nodes = [onnx.helper.make_node("Identity", [x.name], [y.name])]
    return onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", [x], [y]),
        opset_imports=[onnx.helper.make_opsetid("", 15)],
    )


def test_files_that_no_pipeline_may_start_from_stop_at_init_and_at_export(
    empty: Checkout, tmp_path: Path
) -> None:
    """GR05, GR17, GR22."""
    checkout = empty.copied_to(tmp_path / "repository")
    source = tmp_path / "m.onnx"
    for name, (proto, said) in BROKEN.items():
        onnx.save(proto(), source)
        refused = checkout.doit("init", name, "--onnx", str(source))
        assert (refused.code, said in refused.text) == (3, True)
        onnx.save(sound(proto()), source)
        assert checkout.doit("init", name, "--onnx", str(source)).code == 0
        onnx.save(proto(), checkout.path(f"pipelines/{name}/m.onnx"))
    run = checkout.doit("--continue")

    assert run.code == 2
    assert set(run.executed) == {"samples"}
    for _, said in BROKEN.values():
        assert f"m.onnx: {said}" in run.text
    assert not run.has_traceback
