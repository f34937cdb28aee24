from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from ascendflow.documents.evaluation import Evaluation
from ascendflow.errors import StageError
from ascendflow.manifest.typed_dicts import rebuilt
from ascendflow.stages.evaluate import Evaluate
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import ALTERNATIVE, TensorWriter

if TYPE_CHECKING:
    from pathlib import Path

LABELS = np.array([0, 0, 1, 0, 2, 1, 0, 3])
PREDICTED = np.array([0, 0, 1, 1, 2, 2, 0, 0])

METRICS = '''
import numpy as np

def accuracy(outputs, samples, scale=1.0):
    hits = [(o["y"] == s["labels"]["y"]).mean() for o, s in zip(outputs, samples)]
    return scale * np.mean(hits)

def macro_f1(outputs, samples):
    """F1 of a class that is never predicted is 0."""
    p = np.concatenate([o["y"] for o in outputs])
    l = np.concatenate([s["labels"]["y"] for s in samples])
    f = []
    for c in range(4):
        hits, all_of_it = ((p == c) & (l == c)).sum(), (p == c).sum() + (l == c).sum()
        f.append(0.0 if hits == 0 else 2 * hits / all_of_it)
    return np.mean(f)

def micro_f1(outputs, samples):
    p = np.concatenate([o["y"] for o in outputs])
    l = np.concatenate([s["labels"]["y"] for s in samples])
    hits = sum(((p == c) & (l == c)).sum() for c in range(4))
    return 2 * hits / (len(p) + len(l))

def careless_f1(outputs, samples):
    p = np.concatenate([o["y"] for o in outputs])
    l = np.concatenate([s["labels"]["y"] for s in samples])
    hits = np.array([((p == c) & (l == c)).sum() for c in range(4)])
    precision = hits / np.bincount(p, minlength=4)
    recall = hits / np.bincount(l, minlength=4)
    return np.mean(2 * precision * recall / (precision + recall))

def ids(outputs, samples):
    assert [s["id"] for s in samples] == ["s0", "s1"]
    assert len(samples) == 2 and samples[-1]["id"] == "s1" and samples[0:1][0]["id"] == "s0"
    assert samples[0]["feeds"]["x"].shape == (2,)
    return float(len(list(outputs)) + len(list(outputs)))

def nan_of_the_target(outputs, samples):
    return float("nan") if any((o["y"] == 9).any() for o in outputs) else 1.0

def infinite(outputs, samples):
    return np.float32("inf")

def word(outputs, samples):
    return "0.5"

def truth(outputs, samples):
    return True

def nothing(outputs, samples):
    pass

def many(outputs, samples):
    return np.ones(2)

def broken(outputs, samples):
    raise KeyError("mask")

def mistaken(outputs, samples):
    return samples[0]["labels"]["mask"]

def astray(outputs, samples):
    return [output["logits"] for output in outputs]
'''


def _write(folder: Path, samples: list[dict[str, np.ndarray]]) -> None:
    with TensorWriter(folder) as writer:
        for index, tensors in enumerate(samples):
            writer.write(f"s{index}", tensors)


def _context(folder: Path, factory: str | None, **changes: Any) -> StageContext:
    samples = changes.pop("samples", 2)
    folder.mkdir(exist_ok=True)
    halves = [slice(0, 4), slice(4, 8)][:samples]
    feeds: list[dict[str, np.ndarray]] = [{"x": np.ones(2)} for _ in halves]
    _write(folder / "samples" / "feeds", feeds)
    _write(folder / "samples" / "labels", [{"y": LABELS[part]} for part in halves])
    _write(folder / "golden" / "onnx", [{"y": PREDICTED[part]} for part in halves])
    if changes.pop("torch", False):
        _write(folder / "golden" / "torch", [{"y": LABELS[part]} for part in halves])
    target = changes.pop("target", PREDICTED)
    _write(
        folder / "outputs",
        [{"y": target[part]} for part in halves][changes.pop("drop", 0) :],
    )
    # A name of its own: a process imports each user module once.
    module = f"metric_{factory}_{abs(hash(folder))}.py"
    (folder / module).write_text(METRICS, "utf-8")
    metric = {
        "module": module,
        "factory": factory,
        "arguments": changes.pop("arguments", {}),
        "direction": "higher",
    }
    return StageContext(
        config={"metric": None if factory is None else metric},
        inputs={role: folder / role for role in Evaluate.consumes},
        files={},
        outputs={"evaluation.json": folder / "evaluation.json"},
        folder=folder,
        backend=None,
        seed=0,
        findings=Findings(),
    )


def _evaluate(ctx: StageContext) -> Any:
    Evaluate().run(ctx)
    document = json.loads(ctx.outputs["evaluation.json"].read_text("utf-8"))
    assert (
        TypeAdapter(rebuilt(Evaluation)).validate_python(document, strict=True) == document
    )
    return document


def test_the_metric_is_computed_for_each_model(tmp_path: Path) -> None:
    wrong = PREDICTED.copy()
    wrong[:4] = 9
    ctx = _context(tmp_path, "accuracy", torch=True, target=wrong)

    assert _evaluate(ctx) == {
        "schema_version": 1,
        "metric": "accuracy",
        "direction": "higher",
        "torch": 1.0,
        "onnx": 0.625,
        "target": 0.25,
    }


def test_without_pytorch_its_value_is_null(tmp_path: Path) -> None:
    document = _evaluate(_context(tmp_path, "accuracy"))

    assert document["torch"] is None
    assert document["target"] == 0.625


def test_arguments_reach_the_metric(tmp_path: Path) -> None:
    ctx = _context(tmp_path, "accuracy", arguments={"scale": 2.0})

    assert _evaluate(ctx)["onnx"] == 1.25


def test_a_class_that_is_never_predicted_gives_a_number(tmp_path: Path) -> None:
    """IO05. By hand: F1 of the four classes is 3/4, 1/2, 2/3 and 0; 5 of 8 are right."""
    macro = _evaluate(_context(tmp_path / "macro", "macro_f1"))["onnx"]
    micro = _evaluate(_context(tmp_path / "micro", "micro_f1"))["onnx"]

    assert macro == pytest.approx((3 / 4 + 1 / 2 + 2 / 3 + 0) / 4)
    assert macro == pytest.approx(0.479167, abs=1e-6)
    assert micro == 0.625


def test_a_class_that_is_never_predicted_is_no_nan_that_slips_through(
    tmp_path: Path,
) -> None:
    """IO05. Precision of class 3 is 0/0, and so is the mean."""
    with (
        pytest.raises(
            StageError, match=r"careless_f1 on the onnx outputs is nan"
        ) as caught,
        np.errstate(invalid="ignore"),
    ):
        _evaluate(_context(tmp_path, "careless_f1"))

    assert "count as 0, not as 0/0" in str(caught.value.hint)


def test_samples_come_with_ids_and_can_be_read_twice(tmp_path: Path) -> None:
    assert _evaluate(_context(tmp_path, "ids"))["onnx"] == 4.0


def test_without_a_metric_everything_is_null_and_no_user_code_runs(tmp_path: Path) -> None:
    ctx = _context(tmp_path, None)
    for file in tmp_path.glob("metric_*.py"):
        file.write_text("raise RuntimeError", "utf-8")

    assert _evaluate(ctx) == {
        "schema_version": 1,
        "metric": None,
        "direction": None,
        "torch": None,
        "onnx": None,
        "target": None,
    }


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("infinite", "infinite on the onnx outputs is inf"),
        ("word", "word on the onnx outputs returned '0.5', which is no number"),
        ("truth", "truth on the onnx outputs returned True"),
        ("nothing", "nothing on the onnx outputs returned None"),
        ("many", "many on the onnx outputs returned"),
        (
            "broken",
            r"^metric_broken_\d+\.py:57 \(broken\), on the onnx outputs: KeyError: 'mask'",
        ),
        (
            "mistaken",
            r"\(mistaken\), on the onnx outputs: KeyError: .'mask' is no label of .*: y\"",
        ),
        (
            "astray",
            r"KeyError: .'logits' is no output of the model; it has: y\"",
        ),
    ],
)
def test_what_is_no_finite_number_is_refused_with_whose_it_is(
    factory: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match=message):
        Evaluate().run(_context(tmp_path, factory))


def test_a_nan_of_the_target_is_said_to_be_the_targets(tmp_path: Path) -> None:
    ctx = _context(tmp_path, "nan_of_the_target", target=np.full(8, 9))

    with pytest.raises(StageError, match="on the target outputs is nan"):
        Evaluate().run(ctx)


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="0 onnx outputs for 0 samples"):
        Evaluate().run(_context(tmp_path, "accuracy", samples=0))


def test_outputs_of_other_samples_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="1 target outputs for 2 samples"):
        Evaluate().run(_context(tmp_path, "accuracy", drop=1))


def test_a_metric_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="mean_iuo"):
        Evaluate().run(_context(tmp_path, "mean_iuo"))


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_of_two_behaviours_the_worse_counts(direction: str, tmp_path: Path) -> None:
    """The second gets two more of eight wrong."""
    second = PREDICTED.copy()
    second[:2] = 9
    ctx = _context(tmp_path, "accuracy")
    halves: list[dict[str, np.ndarray]] = [{"y": second[:4]}, {"y": second[4:]}]
    _write(tmp_path / "outputs" / ALTERNATIVE, halves)
    ctx.config["metric"]["direction"] = direction

    document = _evaluate(ctx)

    right = float(np.mean(PREDICTED == LABELS))
    assert document["onnx"] == right
    assert document["target"] == (right - 0.25 if direction == "higher" else right)
