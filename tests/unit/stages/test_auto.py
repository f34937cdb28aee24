"""`rules: auto`: the cures of what lint finds, each applied, logged and proved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import onnx
import pytest

from ascendflow.cann import auto, lint
from ascendflow.cann.detection import Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation
from ascendflow.graph import rewrite as graph_rewrite
from ascendflow.graph.edit import Chain
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.stages.rewrite import Rewrite
from tests.emulation import target
from tests.models import F32, model, node, resize_chain, run
from tests.stages import context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx_ir as ir

    from ascendflow.documents.conversion import Confidence
    from ascendflow.documents.rewrite_log import Effect


class Wrong(NodeDeviation):
    """Every node of one type is wrong on every target."""

    consequences = ("silent",)
    onnx = cann = source = "made up"

    def __init__(self, op_type: str, cure: str) -> None:
        self.name = f"{op_type.lower()}-is-wrong"  # type: ignore[misc]
        self.op_types = frozenset({op_type})  # type: ignore[misc]
        self.cure = cure  # type: ignore[misc]

    def confidence(self, conditions: Conditions) -> Confidence:  # noqa: ARG002
        return "high"

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        if node.op_type not in self.op_types:
            return Harmless("of another type")
        return Found(f"{node.op_type} is wrong", "silent")


class Respell(Rule):
    """Puts two nodes of other types in a node's place; leaves those called `keep`."""

    version: ClassVar[int] = 1

    def __init__(self, old: str, *new: str, effect: Effect = "exact") -> None:
        self.name = f"no-{old.lower()}"  # type: ignore[misc]
        self.op_types = frozenset({old})  # type: ignore[misc]
        self.effect = effect  # type: ignore[misc]
        self._new = new

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        if node.name == "keep":
            yield Skipped(node, "it is to be kept")
            return
        chain, value = Chain(node), node.inputs[0]
        for op_type in self._new:
            value = chain(op_type, [value])
        chain.put_in_place()
        yield Applied(node, {"op_type": node.op_type}, {"op_types": list(self._new)})


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neg is cured by Identity; Abs by Neg and Relu, in a later rule; Exp by loss."""
    deviations = (
        Wrong("Neg", "no-neg"),
        Wrong("Abs", "no-abs"),
        Wrong("Exp", "no-exp"),
        Wrong("Sqrt", "no-such-rule"),
    )
    rules = (
        Respell("Neg", "Identity"),
        Respell("Abs", "Neg", "Relu"),
        Respell("Exp", "Identity", effect="lossy"),
    )

    def asked(op_type: str) -> list[Wrong]:
        return [each for each in deviations if op_type in each.op_types]

    monkeypatch.setattr(lint, "DEVIATIONS", deviations)
    monkeypatch.setattr(lint, "node_deviations", asked)
    monkeypatch.setattr(auto, "RULES", rules)
    monkeypatch.setattr(graph_rewrite, "RULES", rules)


def rewritten(root: Path, proto: onnx.ModelProto, **config: Any) -> tuple[Any, Any]:
    (root / "simplified").mkdir()
    onnx.save(proto, root / "simplified" / "model.onnx")
    ctx = context(Rewrite, root, {"rules": [], "auto": target(), **config})
    Rewrite().run(ctx)
    log = json.loads(ctx.outputs["rewrite.json"].read_text())["rules"]
    return onnx.load(ctx.outputs["rewritten"] / "model.onnx"), log


def test_what_lint_finds_is_cured_at_its_nodes(tmp_path: Path) -> None:
    made, log = rewritten(tmp_path, resize_chain("half_pixel"))

    assert made == resize_chain("pytorch_half_pixel")
    (entry,) = log
    nodes = [f"u{k}" for k in range(0, 15, 2)]
    assert entry["deviations"] == {"resize-half-pixel": nodes}
    assert [each["node"] for each in entry["applied"]] == nodes


def geared(image: list[int | str], strides: int) -> onnx.ModelProto:
    same: dict[str, Any] = {"auto_pad": "SAME_LOWER", "kernel_shape": [3, 3]}
    nodes = [
        node("Conv", ["image", "w"], ["c"], pads=[1, 1, 1, 1]),
        node("MaxPool", ["c"], ["p"], strides=[strides, strides], **same),
        node("Resize", ["p", "", "s"], ["u"], mode="linear"),
    ]
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(F32)
    constants = {"w": weights, "s": np.array([1, 1, 2, 2], F32)}
    output: list[int | str] = ["a", "b", "h", "w"]
    return model(nodes, [("image", image)], [("u", output)], constants)


@pytest.mark.parametrize(
    ("image", "cured"),
    [
        pytest.param(["n", 3, 64, 96], ["resize-half-pixel", "auto-pad-to-pads"], id="n"),
        pytest.param([1, 3, "h", 96], ["resize-half-pixel"], id="h"),
    ],
)
def test_an_open_size_keeps_away_only_the_cures_that_read_it(
    tmp_path: Path, image: list[int | str], cured: list[str]
) -> None:
    proto = geared(image, 2)

    made, log = rewritten(tmp_path, proto)

    assert [each["rule"].partition("@")[0] for each in log if each["applied"]] == cured
    x = np.random.default_rng(1).standard_normal((1, 3, 64, 96)).astype(F32)
    np.testing.assert_array_equal(
        run(made, {"image": x})["u"], run(proto, {"image": x})["u"]
    )


def test_where_nothing_is_found_the_file_is_copied(tmp_path: Path) -> None:
    proto = resize_chain("pytorch_half_pixel")

    made, log = rewritten(tmp_path, proto)

    assert (made, log) == (proto, [])


@pytest.mark.usefixtures("world")
def test_what_a_cure_brings_is_cured_too(tmp_path: Path) -> None:
    proto = model([node("Abs", ["x"], ["y"])], [("x", [2])], [("y", [2])])

    made, log = rewritten(tmp_path, proto)

    assert [each.op_type for each in made.graph.node] == ["Identity", "Relu"]
    assert [entry["rule"] for entry in log] == ["no-abs", "no-neg"]
    assert log[1]["deviations"] == {"neg-is-wrong": [log[1]["applied"][0]["node"]]}
    assert made.graph.node[-1].output == ["y"]


@pytest.mark.usefixtures("world")
def test_loss_is_never_chosen_nor_a_rule_that_there_is_not(tmp_path: Path) -> None:
    nodes = [node("Exp", ["x"], ["e"]), node("Sqrt", ["e"], ["y"])]
    proto = model(nodes, [("x", [2])], [("y", [2])])

    assert rewritten(tmp_path, proto) == (proto, [])


@pytest.mark.usefixtures("world")
def test_a_node_that_the_rule_skips_is_logged_once(tmp_path: Path) -> None:
    nodes = [
        node("Neg", ["x"], ["k"], name="keep"),
        node("Neg", ["k"], ["y"]),
    ]
    proto = model(nodes, [("x", [2])], [("y", [2])])

    made, log = rewritten(tmp_path, proto)

    assert [each.op_type for each in made.graph.node] == ["Neg", "Identity"]
    (entry,) = log
    assert [each["node"] for each in entry["skipped"]] == ["keep"]
    assert entry["deviations"] == {"neg-is-wrong": ["keep", "y"]}


@pytest.mark.usefixtures("world")
def test_a_rule_that_brings_its_own_deviation_back_comes_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (Respell("Neg", "Abs"), Respell("Abs", "Neg"))
    monkeypatch.setattr(auto, "RULES", rules)
    monkeypatch.setattr(graph_rewrite, "RULES", rules)
    proto = model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])])

    _, log = rewritten(tmp_path, proto)

    assert [entry["rule"] for entry in log] == ["no-neg", "no-abs"]


@pytest.mark.usefixtures("world")
def test_named_rules_come_first(tmp_path: Path) -> None:
    nodes = [node("Exp", ["x"], ["e"]), node("Abs", ["e"], ["y"])]
    proto = model(nodes, [("x", [2])], [("y", [2])])

    _, log = rewritten(tmp_path, proto, rules=[{"name": "no-exp"}])

    named = [(entry["rule"], bool(entry["deviations"])) for entry in log]
    assert named == [("no-exp", False), ("no-abs", True), ("no-neg", True)]


@pytest.mark.usefixtures("world")
def test_what_was_chosen_can_be_replayed_rule_by_rule(tmp_path: Path) -> None:
    """The check stage does so to tell whose promise is broken; here in no rule's order."""
    proto = model([node("Abs", ["x"], ["y"])], [("x", [2])], [("y", [2])])
    made, log = rewritten(tmp_path, proto)
    requests = [
        graph_rewrite.Request(entry["rule"], tuple(n["node"] for n in entry["applied"]))
        for entry in log
    ]

    again = tmp_path / "again.onnx"
    graph_rewrite.replay(tmp_path / "simplified" / "model.onnx", again, requests)

    assert onnx.load(again) == made
    assert run(made, {"x": np.array([1, -2], F32)})["y"].tolist() == [1.0, 0.0]
