from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from ruamel.yaml import YAML

import ascendflow.graph.rewrite as graph_rewrite
from ascendflow.cann.auto import choose
from ascendflow.errors import StageError
from ascendflow.graph.rewrite import Request, rewrite
from ascendflow.graph.rule import Applied, Finding, Rule
from ascendflow.stages.check import Check, _how_without
from tests.models import F32, model, node, resize_chain
from tests.stages import context, write_set

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascendflow.documents.rewrite_log import Effect

RULE = "resize-half-pixel"
MODE = "coordinate_transformation_mode"


class SetAlpha(Rule):
    """Sets the slope of every LeakyRelu."""

    version: ClassVar[int] = 3
    op_types: ClassVar[frozenset[str]] = frozenset({"LeakyRelu"})

    def __init__(self, name: str, effect: Effect, factor: float) -> None:
        self.name = name  # type: ignore[misc]
        self.effect = effect  # type: ignore[misc]
        self._factor = factor

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Multiply alpha."""
        alpha = node.attributes.get_float("alpha", 0.01)
        node.attributes["alpha"] = ir.AttrFloat32("alpha", alpha * self._factor)
        yield Applied(node, {"alpha": alpha}, {"alpha": alpha * self._factor})


class SpellAxis(Rule):
    """Spells the last axis of a matrix 1 instead of -1: exact, whatever it promises."""

    name: ClassVar[str] = "axis"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Softmax"})

    def __init__(self, effect: Effect) -> None:
        self.effect = effect  # type: ignore[misc]

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Set the attribute."""
        node.attributes["axis"] = ir.AttrInt64("axis", 1)
        yield Applied(node, {"axis": -1}, {"axis": 1})


def leaky() -> onnx.ModelProto:
    nodes = [
        node("LeakyRelu", ["x"], ["l"], alpha=0.5),
        node("Softmax", ["l"], ["y"], axis=-1),
    ]
    return model(nodes, [("x", [2, 3])], [("y", [2, 3])])


def prepare(
    root: Path,
    proto: onnx.ModelProto,
    rules: list[Rule] | None = None,
    allow_lossy: bool = False,
    monkeypatch: pytest.MonkeyPatch | None = None,
) -> Any:
    """Rewrite `proto` by all `rules`, write two samples, and make the stage's context."""
    for folder in ("simplified", "rewritten"):
        (root / folder).mkdir()
    onnx.save(proto, root / "simplified" / "model.onnx")
    if rules is not None and monkeypatch is not None:
        monkeypatch.setattr(graph_rewrite, "RULES", tuple(rules))
    names = [rule.name for rule in rules] if rules is not None else [RULE]
    before, after = (root / role / "model.onnx" for role in ("simplified", "rewritten"))
    done = rewrite(before, after, [Request(name) for name in names])
    (root / "rewrite.json").write_text(json.dumps(done.log), encoding="utf-8")
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    rng = np.random.default_rng(0)
    samples = [{"x": rng.standard_normal(shape).astype(F32)} for _ in range(2)]
    write_set(root / "samples" / "feeds", samples)
    return context(Check, root, {"allow_lossy": allow_lossy})


def document(ctx: Any) -> Any:
    return json.loads(ctx.outputs["check.json"].read_text(encoding="utf-8"))


def test_the_resize_rule_holds_its_promise_bit_for_bit(tmp_path: Path) -> None:
    """RS01."""
    ctx = prepare(tmp_path, resize_chain("half_pixel"))

    Check().run(ctx)

    found = document(ctx)
    assert found["promises"] == [{"rule": RULE, "effect": "exact", "held": True}]
    assert found["outputs"]["u14"]["max_absolute_error"] == 0
    assert found["outputs"]["u14"]["range"] > 0


def test_nothing_applied_promises_nothing(tmp_path: Path) -> None:
    ctx = prepare(tmp_path, resize_chain("asymmetric"))

    Check().run(ctx)

    assert document(ctx)["promises"] == []
    assert document(ctx)["outputs"]["u14"]["max_absolute_error"] == 0


def test_a_value_changing_edit_breaks_an_exact_promise(tmp_path: Path) -> None:
    """RS01."""
    ctx = prepare(tmp_path, resize_chain("half_pixel"))
    onnx.save(resize_chain("asymmetric"), ctx.inputs["rewritten"] / "model.onnx")

    with pytest.raises(StageError) as caught:
        Check().run(ctx)

    assert "check: output 'u14' differs between simplified and rewritten: max abs" in str(
        caught.value
    )
    assert "allowed 0" in str(caught.value)
    assert "rule 'resize-half-pixel@1' promises exact" in str(caught.value)


@pytest.mark.parametrize(
    ("effect", "factor", "holds"),
    [
        ("exact", 1.0000001, False),
        ("equivalent", 1.000001, True),
        ("equivalent", 1.01, False),
        ("lossy", 3.0, True),
    ],
)
def test_each_effect_allows_what_it_says(
    effect: Effect,
    factor: float,
    holds: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules: list[Rule] = [SetAlpha("slope", effect, factor)]
    ctx = prepare(tmp_path, leaky(), rules, allow_lossy=True, monkeypatch=monkeypatch)

    if holds:
        Check().run(ctx)
        assert document(ctx)["promises"][0] == {
            "rule": "slope",
            "effect": effect,
            "held": True,
        }
    else:
        with pytest.raises(StageError, match=f"'slope@3' promises {effect}"):
            Check().run(ctx)


def test_a_lossy_rule_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RS10."""
    rules: list[Rule] = [SetAlpha("slope", "lossy", 3)]
    ctx = prepare(tmp_path, leaky(), rules, monkeypatch=monkeypatch)

    with pytest.raises(
        StageError, match=r"lossy, and .* not allow it: slope@3 \(nodes: 1\)"
    ):
        Check().run(ctx)


@pytest.mark.parametrize(
    ("rules", "holds"),
    [
        ([SpellAxis("exact"), SetAlpha("slope", "exact", 1.5)], False),
        ([SetAlpha("slope", "exact", 1.5), SpellAxis("exact")], False),
        ([SetAlpha("slope", "exact", 1.5), SpellAxis("lossy")], False),
        ([SpellAxis("lossy"), SetAlpha("slope", "equivalent", 1.1)], False),
        ([SpellAxis("lossy"), SetAlpha("slope", "equivalent", 1.0000001)], True),
        ([SpellAxis("exact"), SetAlpha("slope", "lossy", 2.0)], True),
    ],
)
def test_of_several_rules_the_one_that_broke_its_promise_is_named(
    rules: list[Rule], holds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = prepare(tmp_path, leaky(), rules, allow_lossy=True, monkeypatch=monkeypatch)

    if holds:
        Check().run(ctx)
        assert [promise["held"] for promise in document(ctx)["promises"]] == [True, True]
    else:
        with pytest.raises(StageError, match="rule 'slope@3' promises"):
            Check().run(ctx)


def test_telling_rules_apart_works_with_weights_beside_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = np.random.default_rng(1).standard_normal((4, 4)).astype(F32)
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("LeakyRelu", ["m"], ["l"], alpha=0.5),
        node("Softmax", ["l"], ["y"], axis=-1),
    ]
    proto = model(nodes, [("x", [2, 4])], [("y", [2, 4])], {"w": w})
    rules: list[Rule] = [SpellAxis("exact"), SetAlpha("slope", "lossy", 2.0)]
    ctx = prepare(tmp_path, proto, rules, allow_lossy=True, monkeypatch=monkeypatch)
    for role in ("simplified", "rewritten"):
        path = ctx.inputs[role] / "model.onnx"
        onnx.save(
            onnx.load(path), path, save_as_external_data=True, location="model.onnx.data",
            size_threshold=0,
        )  # fmt: skip

    Check().run(ctx)

    assert len(document(ctx)["promises"]) == 2


def test_a_rule_is_judged_by_itself_with_its_arguments(tmp_path: Path) -> None:
    """A product with a root is an ulp off, so scale-conv, exact, is held alone."""
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Exp", ["m"], ["e"]),
        node("Pow", ["e", "p"], ["y"]),
    ]
    w = np.random.default_rng(0).standard_normal((3, 400)).astype(F32)
    constants = {"w": w, "p": np.array(1.5, F32)}
    proto = model(nodes, [("x", [2, 3])], [("y", [2, 400])], constants)
    ctx = prepare(tmp_path, proto, [], monkeypatch=None)
    before, after = (tmp_path / role / "model.onnx" for role in ("simplified", "rewritten"))
    requests = [Request("scale-conv", arguments={"scale": 64}), Request("pow-to-sqrt")]
    log = rewrite(before, after, requests).log
    ctx.inputs["rewrite.json"].write_text(json.dumps(log), encoding="utf-8")

    Check().run(ctx)

    found = document(ctx)
    assert [(p["rule"], p["effect"]) for p in found["promises"]] == [
        ("pow-to-sqrt", "equivalent"),
        ("scale-conv", "exact"),
    ]
    assert found["outputs"]["y"]["max_absolute_error"] > 0


def ill_conditioned() -> onnx.ModelProto:
    """InstanceNormalization of nearly constant data, which enlarges an ulp to a share.

    Pow by 1.5 is x * Sqrt(x) after its rule, an ulp off.
    """
    nodes = [
        node("Abs", ["x"], ["a"]),
        node("Mul", ["a", "small"], ["m"]),
        node("Add", ["m", "one"], ["near"]),
        node("Pow", ["near", "p"], ["root"], name="root"),
        node("InstanceNormalization", ["root", "s", "b"], ["norm"], epsilon=1e-20),
        node("Softmax", ["norm"], ["soft"], axis=-1),
        node("Clip", ["soft"], ["y"], name="unbounded"),
    ]
    constants = {
        "small": np.array(2e-4, F32),
        "one": np.array(1000.0, F32),
        "p": np.array(1.5, F32),
        "s": np.ones(2, F32),
        "b": np.zeros(2, F32),
    }
    return model(nodes, [("x", [1, 2, 64])], [("y", [1, 2, 64])], constants)


def test_a_rule_of_auto_that_breaks_its_promise_is_named_with_how_to_do_without(
    tmp_path: Path,
) -> None:
    target = {"cann": "8.1", "soc_version": "Ascend310", "precision_mode": "force_fp16"}
    ctx = prepare(tmp_path, ill_conditioned(), [], monkeypatch=None)
    before, after = (tmp_path / role / "model.onnx" for role in ("simplified", "rewritten"))
    log = rewrite(before, after, [], choose=lambda model: choose(model, target)).log
    ctx.inputs["rewrite.json"].write_text(json.dumps(log), encoding="utf-8")
    assert {entry["rule"] for entry in log["rules"]} >= {"clip-unbounded", "pow-to-sqrt"}

    with pytest.raises(StageError) as caught:
        Check().run(ctx)

    hint = str(caught.value.hint)
    assert "rule 'pow-to-sqrt@1' promises equivalent" in hint
    assert "nearly constant data" in hint
    (rules,) = re.findall(r"in place of auto: `rewrite: \{rules: \[(.*)\]\}`; or", hint)
    assert "clip-unbounded" in rules.split(", ")
    assert "pow-to-sqrt" not in rules

    done = rewrite(before, after, [Request(name) for name in rules.split(", ")])
    ctx.inputs["rewrite.json"].write_text(json.dumps(done.log), encoding="utf-8")
    Check().run(ctx)


def test_what_stays_without_a_rule_is_spelled_as_a_manifest_takes_it() -> None:
    def entry(rule: str, **more: Any) -> Any:
        applied = [{"node": "n", "op_type": "Conv", "before": {}, "after": {}}]
        made: Any = {"rule": rule, "file": None, "deviations": {}, "applied": applied}
        return {**made, **more}

    applied = [
        entry("broken", deviations={"d": ["n"]}),
        entry("mod-sign", deviations={"d": ["n"]}),
        entry("mine", file="own.py"),
        entry("scale-conv", arguments={"scale": 64}),
    ]

    said = _how_without(applied[0], applied)

    listed = said.partition("`rewrite: ")[2].partition("`")[0]
    assert YAML(typ="safe").load(listed) == {
        "rules": [
            "mod-sign",
            {"name": "mine", "file": "own.py"},
            {"name": "scale-conv", "nodes": ["n"], "scale": 64},
        ]
    }
    assert _how_without(applied[0], applied[2:]).startswith("leave the rule out")
