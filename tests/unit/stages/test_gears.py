"""A model of gears from samples to the simplified graph: every gear is proven."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph import simplifier
from ascendflow.graph.io_spec import inputs_of, outputs_of
from ascendflow.stages.infer import _checked_feeds
from ascendflow.stages.sample_shapes import admits
from ascendflow.tensors import TensorSet, TensorSpec
from tests.exported_models import constant, model, node, value
from tests.stage_runs import TARGET, Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path

ONE, THREE, FIVE = [1, 2, 3], [3, 2, 3], [5, 2, 3]
GEARS = [{"x": ONE}, {"x": THREE}]


def flatten() -> onnx.ModelProto:
    """Reshape to [batch, -1], with the batch read from the input's own shape (SH03)."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"], axis=0),
        node("Unsqueeze", ["n", "first"], ["n1"]),
        node("Concat", ["n1", "rest"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["y"]),
    ]
    constants = [
        constant("zero", 0, np.int64),
        constant("first", [0], np.int64),
        constant("rest", [-1], np.int64),
    ]
    x, y = value("x", ["batch", 2, 3]), value("y", ["batch", "k"])
    return model(nodes, [x], [y], constants)


def opened(tmp_path: Path) -> Pipeline:
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (1, 2, 3))])
    made.inputs[0]["open"] = [0]
    return made


def arrays(*shapes: list[int]) -> list[dict[str, np.ndarray]]:
    generator = np.random.default_rng(0)
    return [{"x": generator.standard_normal(s, dtype=np.float32)} for s in shapes]


def sampled(made: Pipeline, *shapes: list[int]) -> None:
    (made.folder / "inputs").mkdir(parents=True)
    for number, fed in enumerate(arrays(*shapes)):
        given: dict[str, Any] = fed
        np.savez(made.folder / "inputs" / f"s{number}.npz", **given)
    made.run("samples", samples={"files": "inputs/*.npz"}, shapes=GEARS)


def test_model_with_gears_stays_open_and_is_proven_at_each(tmp_path: Path) -> None:
    """SH03: what is simplified for one batch gives nothing for another."""
    made = opened(tmp_path)
    sampled(made, ONE, THREE, THREE)
    made.ingest(flatten())
    made.golden()
    made.simplify()

    for role in ("exported", "simplified"):
        written = onnx.load(made.made(role) / "model.onnx")
        assert inputs_of(written)[0].shape == ("batch", 2, 3)
        assert outputs_of(written)[0].shape != (1, 6)
    golden = TensorSet(made.made("golden") / "onnx")
    fed = TensorSet(made.made("samples") / "feeds")
    assert [specs[0].shape for specs in map(golden.specs, range(3))] == [
        (1, 6),
        (3, 6),
        (3, 6),
    ]
    for number in range(3):  # a reshape moves nothing
        assert golden.load(number, "y").tobytes() == fed.load(number, "x").tobytes()


def test_frozen_copy_is_refused_where_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SH03."""
    made = opened(tmp_path)
    sampled(made, ONE, THREE)
    made.ingest(flatten())
    made.golden()
    frozen = onnx.load(made.made("exported") / "model.onnx")
    frozen.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    monkeypatch.setattr(
        simplifier, "_onnxsim", lambda: lambda _path, **_options: (frozen, True)
    )

    with pytest.raises(StageError, match="onnxsim changed the inputs from"):
        made.simplify()


def over_batch() -> onnx.ModelProto:
    """`flatten`, with what comes out divided by the batch: equal for a batch of 1 alone."""
    proto = flatten()
    proto.graph.node[-1].output[0] = "flat"
    cast = node("Cast", ["n1"], ["f"], to=onnx.TensorProto.FLOAT)
    proto.graph.node.extend([cast, node("Div", ["flat", "f"], ["y"])])
    return proto


@pytest.mark.parametrize("shapes", [[ONE, THREE], [THREE, ONE]])
def test_simplification_that_is_right_at_one_gear_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shapes: list[list[int]]
) -> None:
    """EV08: simplified at batch 1, and wrong at another. Without it the model goes on."""
    made = opened(tmp_path)
    sampled(made, *shapes)
    made.ingest(flatten())
    made.golden()
    monkeypatch.setattr(
        simplifier, "_onnxsim", lambda: lambda _path, **_options: (over_batch(), True)
    )

    with pytest.raises(StageError, match="the simplified model differs") as caught:
        made.simplify()

    assert "simplify.enabled: false" in f"{caught.value.message} {caught.value.hint}"
    shutil.rmtree(made.build / "simplify")
    kept = made.simplify(enabled=False).kept["simplified/model.onnx"]
    assert (kept.role, kept.path) == ("exported", "model.onnx")


def test_file_that_is_frozen_already_is_refused(tmp_path: Path) -> None:
    made = opened(tmp_path)
    proto = flatten()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1

    with pytest.raises(StageError) as caught:
        made.ingest(proto)

    assert "input 'x' is [1, 2, 3] in the model, and convert leaves size 0 of it open" in (
        caught.value.message
    )


def test_sample_of_no_gear_and_gear_of_no_sample_are_told_at_once(tmp_path: Path) -> None:
    """IO09, SH08: the shape that is no gear is told with those that are."""
    made = opened(tmp_path)

    with pytest.raises(StageError) as caught:
        sampled(made, ONE, FIVE)

    assert caught.value.message == (
        "inputs/*.npz: 1 problem:\n"
        "  - sample 'inputs/s1': has 'x' [5, 2, 3]; the target is built for "
        "'x' [1, 2, 3]; or 'x' [3, 2, 3]\n"
        "  no sample has the shapes 'x' [3, 2, 3]"
    )
    assert "remove the gear from convert" in str(caught.value.hint)


def test_gear_without_a_sample_is_an_error_by_itself(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"no sample has the shapes 'x' \[3, 2, 3\]"):
        sampled(opened(tmp_path), ONE, ONE)


def test_random_samples_take_the_gears_in_turn(tmp_path: Path) -> None:
    made = opened(tmp_path)
    made.run("samples", samples={"random": {"seed": 0, "count": 3}}, shapes=GEARS)

    fed = TensorSet(made.made("samples") / "feeds")
    assert [list(fed.specs(n)[0].shape) for n in range(3)] == [ONE, THREE, ONE]


def test_inputs_of_one_sample_are_all_of_one_gear() -> None:
    gears = [{"a": [1, 3], "b": [1]}, {"a": [2, 3], "b": [2]}]

    assert admits({"a": (2, 3), "b": (2,)}, gears)
    assert not admits({"a": (2, 3), "b": (1,)}, gears)
    assert not admits({"a": (2, 3)}, gears)
    assert not admits({"a": (2,), "b": (2,)}, gears)


@pytest.mark.parametrize(("length", "fits"), [(0, False), (1, True), (4, True), (5, False)])
def test_range_lets_in_what_lies_within(length: int, fits: bool) -> None:
    assert admits({"a": (length, 3)}, [{"a": [[1, 4], 3]}]) is fits
    assert admits({"a": (length, 3)}, [{"a": [[1, None], 3]}]) is (length > 0)


def test_target_is_fed_with_every_gear_and_nothing_else(tmp_path: Path) -> None:
    made = opened(tmp_path)
    sampled(made, ONE, THREE)
    fed = TensorSet(made.made("samples") / "feeds")
    config = {"inputs": made.inputs, "shapes": GEARS}

    assert [list(each["x"].shape) for each in _checked_feeds(fed, config)] == [ONE, THREE]
    with pytest.raises(StageError, match="sample 'inputs/s1' does not fit the inputs"):
        list(_checked_feeds(fed, {**config, "shapes": GEARS[:1]}))


def test_auto_cures_what_is_the_same_in_every_gear_and_check_proves_it_at_each(
    tmp_path: Path,
) -> None:
    """Of a Resize to half and of a pool of stride 2, the open graph alone tells nothing."""
    kind = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}
    nodes = [
        node("Resize", ["x", "", "half"], ["a"], name="size", mode="linear"),
        node("MaxPool", ["a"], ["b"], name="pool", **kind),
        node("Clip", ["b"], ["y"], name="clip"),
    ]
    half = [constant("half", [1, 1, 0.5, 0.5])]
    proto = model(
        nodes, [value("x", [1, 2, "h", "w"])], [value("y", [1, 2, "i", "j"])], half
    )
    gears = [{"x": [1, 2, 8, 12]}, {"x": [1, 2, 16, 20]}]
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (1, 2, 8, 12))])
    made.inputs[0]["open"] = [2, 3]
    made.run("samples", samples={"random": {"seed": 0, "count": 2}}, shapes=gears)
    made.ingest(proto)
    made.golden()
    made.simplify()
    target = {key: value for key, value in TARGET.items() if key != "backend"}

    made.run("rewrite", rules=[], auto=target, gears=gears)
    made.run("check", allow_lossy=False, gears=gears)
    made.run("lint", None, **target, emulated=False, gears=gears)

    done = {
        entry["rule"]: [each["node"] for each in entry["applied"]]
        for entry in made.document("rewrite.json")["rules"]
    }
    assert done["resize-half-pixel"] == ["size"]
    assert done["auto-pad-to-pads"] == ["pool"]
    assert made.document("lint.json")["findings"] == []
    written = onnx.load(made.made("rewritten") / "model.onnx")
    assert inputs_of(written)[0].shape == (1, 2, "h", "w")
