"""Models of random operators: what lint passes is what onnxruntime computes."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from ascendflow.cann.lint import lint
from ascendflow.cann.precision import FORCE_FP32, MODELLED
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.promise import Difference
from tests.emulation import FP32, IEEE, SATURATING, emulate, linted, tried
from tests.models import run
from tests.random_models import STEPS, random_model
from tests.rewriting import KEEPING, rewritten, why_broken

if TYPE_CHECKING:
    from ascendflow.cann.lint import Finding
    from tests.random_models import Builder


def numbered(seed: int) -> Builder:
    return random_model(random.Random(seed))  # noqa: S311 - to be repeated


def why_wrong(built: Builder) -> str | None:
    """Return how the emulator differs where lint says nothing, or None."""
    proto, feeds = built.model(), built.feeds()
    if linted(proto, **FP32):
        return None
    try:
        (found,) = emulate(proto, feeds, **FP32).values()
    except (NotModelledError, StageError) as error:
        return f"lint is silent, but: {error}"
    (expected,) = run(proto, feeds).values()
    difference = Difference()
    difference.add("random", expected, found)
    # Kernels that are spelled otherwise may add up in another order.
    why = difference.why_broken("equivalent")
    return why and f"lint is silent, but: {why}"


@pytest.mark.slow
@settings(max_examples=600)
@given(rng=st.randoms(use_true_random=False))
def test_where_lint_is_silent_the_emulator_is_onnxruntime(rng: random.Random) -> None:
    built = random_model(rng)

    assert why_wrong(built) is None, built.model()


def in_doubles(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Make every float32 of a model a float64."""
    made = onnx.ModelProto()
    made.CopyFrom(proto)
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for tensor in made.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            wide = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
    return made


def in_a_branch(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Put all nodes of a model into both branches of an If."""
    made = onnx.ModelProto()
    made.CopyFrom(proto)
    branches = {}
    for key in ("then_branch", "else_branch"):
        branches[key] = helper.make_graph(proto.graph.node, key, [], proto.graph.output)
    outputs = [f"{value.name}/chosen" for value in proto.graph.output]
    choose = helper.make_node("If", ["choose"], outputs, name="choice", **branches)
    made.graph.ClearField("node")
    made.graph.node.append(choose)
    for value, name in zip(made.graph.output, outputs, strict=True):
        value.name = name
    made.graph.input.add().CopyFrom(
        helper.make_tensor_value_info("choose", TensorProto.BOOL, [])
    )
    return made


def targeted(rng: random.Random) -> dict[str, str]:
    soc_version = rng.choice(("Ascend310", SATURATING, "Ascend310B1", IEEE))
    mode = rng.choice([mode for mode in MODELLED if mode != FORCE_FP32])
    cann = rng.choice(("6.0", "8.1", "8.5", "9.1"))
    return {"soc_version": soc_version, "precision_mode": mode, "cann": cann}


SPELLINGS = (lambda proto: proto, in_doubles, in_a_branch)


def how_predicted(rng: random.Random) -> str | None:
    """Say how lint and convert differ on a random model and target, or None."""
    spell, proto = rng.choice(SPELLINGS), random_model(rng).model()
    with tried(spell(proto), **targeted(rng)) as trial:
        return trial.why_unpredicted


@pytest.mark.slow
@settings(max_examples=600)
@given(rng=st.randoms(use_true_random=False))
def test_convert_refuses_just_what_lint_says(rng: random.Random) -> None:
    assert how_predicted(rng) is None


def test_a_refusal_that_lint_does_not_tell_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a lint that knows nothing of types, and one that sees half of the findings."""
    seeds = [random.Random(seed) for seed in range(40)]  # noqa: S311 - to be repeated
    monkeypatch.setattr("tests.emulation.lint", lambda *_: [])
    assert any("what lint passes" in (how_predicted(rng) or "") for rng in seeds)

    def first(*arguments: Any) -> list[Finding]:
        stopping = [each for each in lint(*arguments) if each.stops_convert]
        return stopping[:1]

    monkeypatch.setattr("tests.emulation.lint", first)
    assert any("does not name" in (how_predicted(rng) or "") for rng in seeds)


def test_a_refusal_that_does_not_come_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.emulation.convert", lambda *_, **__: {})
    seeds = [random.Random(seed) for seed in range(40)]  # noqa: S311 - to be repeated

    assert any("convert takes" in (how_predicted(rng) or "") for rng in seeds)


@pytest.mark.slow
@settings(max_examples=300)
@given(rng=st.randoms(use_true_random=False))
def test_rules_keep_what_they_promise(rng: random.Random) -> None:
    built = random_model(rng)
    edited, applied, _ = rewritten(built.model(), KEEPING)
    before, after = (run(proto, built.feeds()) for proto in (built.model(), edited))

    assert why_broken(before, after, applied) is None, built.model()


def test_silence_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "linted", lambda *_, **__: [])
    said = [why_wrong(numbered(seed)) for seed in range(60)]

    assert any(each and "lint is silent" in each for each in said)


def test_random_models_are_of_every_kind_and_lint_passes_many() -> None:
    built = [numbered(seed) for seed in range(200)]
    types = Counter(n.op_type for each in built for n in each.model().graph.node)
    passed = sum(not linted(each.model(), **FP32) for each in built)

    assert len(types) > 45
    assert types["Resize"] > 50
    assert passed > 40
    assert len(STEPS) == 10
