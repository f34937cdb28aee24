"""compare, on a model whose rules or whose rounding move tensors, without the emulator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import onnx
import onnxruntime as ort
from onnx import parser

from ascendflow.backends.backend import Capabilities
from ascendflow.metrics.divergent import first_divergent_node
from ascendflow.stages.compare import Compare
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import TensorWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ascendflow.backends.backend import Backend

SIMPLIFIED = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x) => (float[2, 3] p, int64[2] i)
<float[3] mask = {0, 0, -1e9}>
{
  [scale] s = Neg (x)
  [mask] t = Add (s, mask)
  [soft] p = Softmax <axis = 1> (t)
  [pick] i = ArgMax <axis = 1, keepdims = 0> (s)
}
"""
REWRITTEN = SIMPLIFIED.replace("-1e9", "-3e4")

SAMPLES = [
    np.array([[0, 1, 2], [3, 4, 5]], dtype=np.float32),
    np.array(
        [[1, 1.0009765625, 5], [7, 7, 9]], dtype=np.float32
    ),  # a gap of 2^-10, and a tie
]


def _tensors(text: str, x: np.ndarray) -> dict[str, np.ndarray]:
    model = parser.parse_model(text)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in "st")
    session = ort.InferenceSession(model.SerializeToString())
    return dict(zip("pist", session.run(list("pist"), {"x": x}), strict=True))


class Target:
    """Computes the rewritten model; `error` is added to tensors, by name."""

    name = "stand-in"
    capabilities = Capabilities(can_dump=True, is_real_device=False)

    def __init__(self, error: dict[str, np.ndarray], hidden: str = "") -> None:
        self.error, self.hidden = error, hidden
        self.dumped = 0

    def behaviours(self, model: Path) -> dict[str, Path]:
        return {"": model}

    def tensors(self, x: np.ndarray) -> dict[str, np.ndarray]:
        right = _tensors(REWRITTEN, x)
        return {name: right[name] + self.error.get(name, 0) for name in right}

    def dump(
        self, _model: Path, feeds: Mapping[str, np.ndarray], *, threads: int, **_: object
    ) -> Iterator[tuple[str, np.ndarray]]:
        assert threads == 1
        self.dumped += 1
        for name, tensor in self.tensors(feeds["x"]).items():
            if name not in self.hidden:
                yield name, tensor.astype(np.int64 if name == "i" else np.float32)


class Flipping(Target):
    """Chooses 1 in place of 0 in the second sample, both times."""

    def tensors(self, x: np.ndarray) -> dict[str, np.ndarray]:
        found = super().tensors(x)
        return {**found, "i": np.array([1, 1])} if x[1, 0] == 7 else found


def _write(folder: Path, samples: list[dict[str, np.ndarray]]) -> None:
    with TensorWriter(folder) as writer:
        for index, tensors in enumerate(samples):
            writer.write(f"s{index}", tensors)


def _compared(folder: Path, target: Target, rewritten: str = REWRITTEN) -> Any:
    def kept(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"p": tensors["p"].astype(np.float32), "i": tensors["i"].astype(np.int64)}

    _write(folder / "samples" / "feeds", [{"x": x} for x in SAMPLES])
    _write(folder / "golden" / "onnx", [kept(_tensors(SIMPLIFIED, x)) for x in SAMPLES])
    _write(folder / "outputs", [kept(target.tensors(x)) for x in SAMPLES])
    for role, text in (("simplified", SIMPLIFIED), ("rewritten", rewritten)):
        (folder / role).mkdir()
        onnx.save(parser.parse_model(text), folder / role / "model.onnx")
    (folder / "model").mkdir()
    (folder / "conversion.json").write_text('{"target_ops": {}}', "utf-8")
    ctx = StageContext(
        config={"backend": "stand-in", "threads": 1, "node_samples": 1},
        inputs={role: folder / role for role in Compare.consumes},
        files={},
        outputs={"metrics.json": folder / "metrics.json"},
        folder=folder,
        backend=cast("Backend", target),
        seed=0,
        findings=Findings(),
    )
    Compare().run(ctx)
    return json.loads((folder / "metrics.json").read_text("utf-8"))


def _row(document: Any, tensor: str) -> Any:
    return next(row for row in document["nodes"] if row["tensor"] == tensor)


def test_what_a_rule_moved_and_the_target_follows_is_no_divergence(tmp_path: Path) -> None:
    document = _compared(tmp_path, Target({}))
    row = _row(document, "t")

    assert row["metrics"]["relative_euclidean_distance"] > 0.99  # against 1e9
    assert row["moved_by_rules"] is True
    assert row["diverges"] is False
    assert first_divergent_node(document["nodes"], gate_passed=False) is None
    assert "flips" not in document


def test_what_the_target_does_beside_the_rule_is_its_own(tmp_path: Path) -> None:
    document = _compared(tmp_path, Target({"t": np.full((2, 3), 5e3)}))
    row = _row(document, "t")

    assert row["diverges"] is True
    assert "moved_by_rules" not in row
    assert row["statistics"]["golden_largest"] == 30005  # the rewritten model's, not 1e9
    named = first_divergent_node(document["nodes"], gate_passed=False)
    assert named is not None
    assert named["name"] == "mask"


def test_without_a_rule_nothing_is_looked_at_twice(tmp_path: Path) -> None:
    target = Target({"s": np.full((2, 3), 100.0)})
    document = _compared(tmp_path, target, rewritten=SIMPLIFIED)

    assert _row(document, "s")["diverges"] is True
    assert _row(document, "t")["diverges"] is True  # -3e4 is then the target's doing
    assert target.dumped == 1


def test_a_choice_that_differs_is_looked_at_on_the_sample_where_most_do(
    tmp_path: Path,
) -> None:
    off = np.array([[0, 2**-10, 0], [0, 0, 0]])
    document = _compared(tmp_path, Flipping({"s": off}))

    assert document["flips"] == [
        {
            "output": "i",
            "sample": "s1",  # nodes are compared on s0 alone
            "node": "pick",
            "op_type": "ArgMax",
            "values": "s",
            "places": {
                "places": 2,
                "differing": 2,
                "tied": 1,
                "near": 1,
                "largest_gap": 2**-10,
                "largest_error": 2**-10,
            },
            "problem": None,
        }
    ]


def test_a_choice_whose_values_the_target_does_not_give_is_said_to_be_unknown(
    tmp_path: Path,
) -> None:
    document = _compared(tmp_path, Target({"i": np.array([1, 0])}, hidden="s"))
    (flips,) = document["flips"]

    assert flips["places"] is None
    assert flips["problem"] == "the target gives no 's' to compare"
