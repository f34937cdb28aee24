from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import parser
from pydantic import TypeAdapter

from ascendflow.backends.backend import Capabilities
from ascendflow.documents.metrics import MetricsDocument
from ascendflow.errors import StageError
from ascendflow.manifest.typed_dicts import rebuilt
from ascendflow.stages import comparison
from ascendflow.stages.compare import Compare
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import ALTERNATIVE, TensorSet, TensorWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ascendflow.backends.backend import Backend

Tensors = dict[str, np.ndarray]

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x) => (float[2, 3] y, int64[2] i) {
  [up] a = Exp (x)
  [down] b = Neg (a)
  [sum] y = Add (b, x)
  [pick] i = ArgMax <axis = 1, keepdims = 0> (y)
}
"""

SAMPLES = [np.arange(6, dtype=np.float32).reshape(2, 3) / 6 + k for k in range(3)]


def _run(x: np.ndarray) -> Tensors:
    model = parser.parse_model(MODEL)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in "ab")
    session = ort.InferenceSession(model.SerializeToString())
    return dict(zip("yiab", session.run(list("yiab"), {"x": x}), strict=True))


class StandIn:
    """A target that adds `error` from tensor `b` on, folds `a` and inserts `cast`."""

    name = "stand-in"

    def __init__(self, *, error: float = 0.0, can_dump: bool = True) -> None:
        self.capabilities = Capabilities(can_dump=can_dump, is_real_device=False)
        self.error = np.float32(error)
        self.dumped = 0

    def behaviours(self, model: Path) -> dict[str, Path]:
        return {"": model}

    def infer(self, x: np.ndarray) -> Tensors:
        right = _run(x)
        return {"y": right["y"] + self.error, "i": right["i"]}

    def dump(
        self, model: Path, feeds: Mapping[str, np.ndarray], *, threads: int, **_: object
    ) -> Iterator[tuple[str, np.ndarray]]:
        assert model.name == "model"
        assert threads == 1
        self.dumped += 1
        right = _run(feeds["x"])
        yield "y", right["y"] + self.error
        yield "cast", right["b"]
        yield "b", right["b"] + self.error
        yield "i", right["i"]


def _write(folder: Path, samples: list[Tensors]) -> None:
    with TensorWriter(folder) as writer:
        for index, tensors in enumerate(samples):
            writer.write(f"s{index}", tensors)


def _context(
    folder: Path,
    backend: StandIn,
    *,
    torch: float | None = None,
    outputs: list[Tensors] | None = None,
    node_samples: int = 1,
) -> StageContext:
    """Lay out what compare reads; `torch` is how far PyTorch is from ONNX."""
    right = [{name: _run(x)[name] for name in "yi"} for x in SAMPLES]
    _write(folder / "samples" / "feeds", [{"x": x} for x in SAMPLES])
    _write(folder / "samples" / "labels", [{} for _ in SAMPLES])
    _write(folder / "golden" / "onnx", right)
    if torch is not None:
        off = [{"y": o["y"] + np.float32(torch), "i": o["i"]} for o in right]
        _write(folder / "golden" / "torch", off)
    given = [backend.infer(x) for x in SAMPLES] if outputs is None else outputs
    _write(folder / "outputs", given)
    for role in ("simplified", "rewritten"):
        (folder / role).mkdir()
        onnx.save(parser.parse_model(MODEL), folder / role / "model.onnx")
    (folder / "model").mkdir()
    ops = {"down": "Neg", "sum": "AddV2", "up": None}
    (folder / "conversion.json").write_text(json.dumps({"target_ops": ops}), "utf-8")
    return StageContext(
        config={
            "backend": "stand-in",
            "threads": 1,
            "node_samples": node_samples,
        },
        inputs={role: folder / role for role in Compare.consumes},
        files={},
        outputs={"metrics.json": folder / "metrics.json"},
        folder=folder,
        backend=cast("Backend", backend),
        seed=0,
        findings=Findings(),
    )


def _compare(ctx: StageContext) -> Any:
    Compare().run(ctx)
    document = json.loads(ctx.outputs["metrics.json"].read_text("utf-8"))
    assert (
        TypeAdapter(rebuilt(MetricsDocument)).validate_python(document, strict=True)
        == document
    )
    return document


def test_outputs_are_compared_over_all_samples(tmp_path: Path) -> None:
    document = _compare(_context(tmp_path, StandIn(error=0.5)))
    y, i = document["outputs"]
    golden = np.stack([_run(x)["y"] for x in SAMPLES])

    assert [(y["pair"], y["name"]), (i["pair"], i["name"])] == [
        ("onnx-target", "y"),
        ("onnx-target", "i"),
    ]
    assert y["metrics"]["max_absolute_error"]["mean"] == pytest.approx(0.5, rel=1e-6)
    assert y["golden_range"] == pytest.approx(float(golden.max() - golden.min()))
    assert y["problems"] == []
    assert i["metrics"] == {
        "mismatch_rate": {"worst": 0.0, "mean": 0.0, "worst_sample": "s0"}
    }


def test_with_pytorch_every_pair_is_compared(tmp_path: Path) -> None:
    document = _compare(_context(tmp_path, StandIn(error=0.5), torch=0.25))
    errors = {
        found["pair"]: found["metrics"]["mean_absolute_error"]["worst"]
        for found in document["outputs"]
        if found["name"] == "y"
    }

    assert errors == {
        "onnx-target": pytest.approx(0.5, rel=1e-6),
        "torch-onnx": pytest.approx(0.25, rel=1e-6),
        "torch-target": pytest.approx(0.25, rel=1e-6),
    }


def test_nodes_are_joined_by_tensor_name_in_the_order_of_the_model(tmp_path: Path) -> None:
    document = _compare(_context(tmp_path, StandIn(error=0.5)))

    assert [(n["tensor"], n["node"], n["status"]) for n in document["nodes"]] == [
        ("a", "up", "golden_only"),
        ("b", "down", "compared"),
        ("y", "sum", "compared"),
        ("i", "pick", "compared"),
        ("cast", "", "target_only"),
    ]
    assert document["node_samples"] == ["s0"]
    b = document["nodes"][1]
    assert b["target_op"] == "Neg"
    assert b["inputs"] == ["a"]
    assert b["metrics"]["max_absolute_error"] == pytest.approx(0.5, rel=1e-6)
    assert document["nodes"][3]["metrics"] == {"mismatch_rate": 0.0}


def test_nodes_are_compared_on_as_many_samples_as_asked_for(tmp_path: Path) -> None:
    backend = StandIn()
    document = _compare(_context(tmp_path, backend, node_samples=9))

    assert backend.dumped == 3
    assert document["node_samples"] == ["s0", "s1", "s2"]


def test_no_node_sample_means_no_dump(tmp_path: Path) -> None:
    backend = StandIn(error=1)  # so that integers differ, too
    ctx = _context(tmp_path, backend, node_samples=0)
    document = _compare(ctx)

    assert backend.dumped == 0
    assert (document["nodes"], document["node_samples"]) == ([], [])
    assert ctx.findings.warnings == [
        "compare: node_samples is 0; only outputs are compared"
    ]


def test_a_backend_that_cannot_dump_is_warned_of(tmp_path: Path) -> None:
    ctx = _context(tmp_path, StandIn(can_dump=False))

    assert _compare(ctx)["nodes"] == []
    assert ctx.findings.warnings == [
        "compare: backend 'stand-in' cannot dump tensors; only outputs are compared"
    ]


def test_bad_numbers_and_missing_outputs_are_written_and_not_raised(tmp_path: Path) -> None:
    right = [_run(x) for x in SAMPLES]
    outputs: list[Tensors] = [
        {"y": np.full_like(right[0]["y"], np.nan), "i": right[0]["i"]},
        {"y": right[1]["y"][:1], "i": right[1]["i"].astype(np.int32)},
        {"i": right[2]["i"]},
    ]
    y, i = _compare(_context(tmp_path, StandIn(), outputs=outputs))["outputs"]

    assert [p["sample"] for p in y["problems"]] == ["s0", "s1", "s2"]
    assert y["metrics"]["cosine_similarity"]["worst"] == "NaN"
    assert i["problems"] == [{"sample": "s1", "problem": "golden is int64, target int32"}]


def test_an_output_that_only_the_target_has_is_a_problem(tmp_path: Path) -> None:
    outputs = [{**StandIn().infer(x), "extra": x} for x in SAMPLES]
    document = _compare(_context(tmp_path, StandIn(), outputs=outputs))
    extra = document["outputs"][2]

    assert extra["name"] == "extra"
    assert extra["problems"][0]["problem"] == "the golden has no such output"


def test_other_samples_than_the_goldens_are_refused(tmp_path: Path) -> None:
    ctx = _context(tmp_path, StandIn(), outputs=[StandIn().infer(SAMPLES[0])])

    with pytest.raises(StageError, match="3 samples against 1"):
        Compare().run(ctx)


class Undecided(StandIn):
    """May be right, or off by `error`; each has a folder of its own."""

    def behaviours(self, model: Path) -> dict[str, Path]:
        return {"right": model, "wrong": model / "alternative" / "model"}

    def dump(
        self, model: Path, feeds: Mapping[str, np.ndarray], *, threads: int, **_: object
    ) -> Iterator[tuple[str, np.ndarray]]:
        error, self.error = self.error, np.float32(0)
        if model.parent.name == "alternative":
            self.error = error
        yield from super().dump(model, feeds, threads=threads)
        self.error = error


@pytest.mark.parametrize("wrong_is_second", [True, False])
def test_of_two_behaviours_the_worse_number_is_kept_and_the_farther_dumped(
    wrong_is_second: bool, tmp_path: Path
) -> None:
    backend = Undecided(error=0.5)
    right = [{name: _run(x)[name] for name in "yi"} for x in SAMPLES]
    wrong = [backend.infer(x) for x in SAMPLES]
    first, second = (right, wrong) if wrong_is_second else (wrong, right)
    ctx = _context(tmp_path, backend, outputs=first, torch=0.25)
    _write(tmp_path / "outputs" / ALTERNATIVE, second)

    document = _compare(ctx)

    farther = "wrong" if wrong_is_second else "right"  # what the first is called
    assert document["behaviours"] == {"names": ["right", "wrong"], "nodes": farther}
    y = document["outputs"][0]
    assert y["metrics"]["max_absolute_error"] == {
        "worst": pytest.approx(0.5, rel=1e-6),
        "mean": pytest.approx(0.5, rel=1e-6),
        "worst_sample": y["metrics"]["max_absolute_error"]["worst_sample"],
        "behaviour": farther,
    }
    of_the_export = next(o for o in document["outputs"] if o["pair"] == "torch-onnx")
    assert "behaviour" not in of_the_export["metrics"]["max_absolute_error"]
    (b,) = (each for each in document["nodes"] if each["tensor"] == "b")
    dumped = 0.5 if farther == "wrong" else 0
    assert b["metrics"]["max_absolute_error"] == pytest.approx(dumped, rel=1e-6)


def test_the_list_of_outputs_is_made_once_for_each_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made again for each output, a thousand of them take a million steps."""
    outputs = {f"y{i}": np.ones(2, np.float32) for i in range(30)}
    for side in ("golden", "target"):
        with TensorWriter(tmp_path / side) as writer:
            for sample in ("a", "b"):
                writer.write(sample, outputs)
    golden, target = TensorSet(tmp_path / "golden"), TensorSet(tmp_path / "target")
    listed: list[int] = []
    real = TensorSet.specs

    def counting(tensors: TensorSet, sample: int) -> Any:
        listed.append(sample)
        return real(tensors, sample)

    monkeypatch.setattr(TensorSet, "specs", counting)

    found = list(comparison._compare_outputs("onnx-target", golden, target, map, {}))

    assert [each["name"] for each in found] == list(outputs)
    assert len(listed) == 2 * 2


def test_boxes_that_are_found_are_compared_as_a_set(tmp_path: Path) -> None:
    """OP04: the golden's two boxes, turned round, and one that is another."""
    boxes = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 4, 4] b, float[1, 1, 4] s) => (int64[n, 3] y) {
      [nms] y = NonMaxSuppression (b, s)
    }
    """
    golden = np.array([[0, 0, 2], [0, 0, 0]])
    rates = []
    for name, found in (("turned", golden[::-1]), ("other", golden[[0, 0]])):
        (tmp_path / name).mkdir()
        ctx = _context(tmp_path / name, StandIn(), outputs=[], node_samples=0)
        onnx.save(parser.parse_model(boxes), ctx.inputs["simplified"] / "model.onnx")
        for role, each in (("golden/onnx", golden), ("outputs", found)):
            shutil.rmtree(tmp_path / name / role)
            _write(tmp_path / name / role, [{"y": each}])
        (y,) = _compare(ctx)["outputs"]
        rates.append(y["metrics"]["mismatch_rate"]["worst"])

    assert rates == [0, 1 / 6]
