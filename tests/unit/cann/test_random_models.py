"""Models of random operators: what lint passes is what onnxruntime computes."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.promise import Difference
from tests.emulation import FP32, emulate, linted
from tests.models import run
from tests.random_models import STEPS, random_model
from tests.rewriting import KEEPING, rewritten, why_broken

if TYPE_CHECKING:
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
