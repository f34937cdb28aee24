"""Every rule that a deviation names as its cure does away with it, on every operator."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.cann.auto import choose
from ascendflow.cann.cures import why_skipped
from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.graph.load import load_model
from ascendflow.graph.rewrite import Request, rewrite
from ascendflow.graph.rules import RULES
from tests.deviating import CASES
from tests.emulation import emulate, linted, target
from tests.models import run
from tests.rewriting import why_broken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.deviating.case import Case

CURES = {each.name: each.cure for each in DEVIATIONS if each.cure is not None}
EFFECTS = {rule.name: rule.effect for rule in RULES}
ARGUMENTS = {"scale-conv": {"scale": 16}}
MITIGATED = "reducemean-fp16-acc"
"""A sum that stays in fp16, shorter; the last test says by how much it is better."""


def named() -> Iterator[tuple[str, str]]:
    """Give every deviation with a cure, and every operator type that it looks at."""
    for deviation in DEVIATIONS:
        if deviation.cure is not None:
            types = getattr(deviation, "op_types", {""})
            yield from ((deviation.name, each) for each in types)


def edited(proto: onnx.ModelProto, rule: str) -> onnx.ModelProto:
    with TemporaryDirectory() as folder:
        source, target = Path(folder) / "model.onnx", Path(folder) / "edited.onnx"
        onnx.save(proto, source)
        request = Request(rule, arguments=ARGUMENTS.get(rule, {}))
        done = rewrite(source, target, [request])
        assert not done.warnings, done.warnings
        return onnx.load(target)


def feeds(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Make positive floats, and integers of both signs."""
    random, fed = np.random.default_rng(0), {}
    for value in proto.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        dtype: Any = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        is_float = np.issubdtype(dtype, np.floating)
        drawn = random.uniform(0.1, 2, shape) if is_float else random.integers(-9, 9, shape)
        fed[value.name] = drawn.astype(dtype)
    return fed


def test_every_operator_of_every_cure_has_its_model() -> None:
    assert set(named()) == set(CASES)


EVERY_CASE = pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name}-{op_type}-{number}")
        for (name, op_type), cases in CASES.items()
        for number, case in enumerate(cases)
    ],
)


@EVERY_CASE
def test_the_rule_does_away_with_what_was_found(name: str, case: Case) -> None:
    rule = CURES[name]
    assert rule is not None
    assert linted(case.proto, name, **case.config)

    healed = edited(case.proto, rule)

    if name != MITIGATED:
        assert linted(healed, name, **case.config) == []
    if EFFECTS[rule] != "lossy" and name != "lrn-even":  # which onnxruntime refuses
        x = feeds(case.proto)
        assert why_broken(run(case.proto, x), run(healed, x), [rule]) is None


@EVERY_CASE
def test_lint_says_that_the_rule_would_edit_it_and_auto_takes_it(
    name: str, case: Case, tmp_path: Path
) -> None:
    onnx.save(case.proto, tmp_path / "model.onnx")
    config = target(**case.config)
    rule = next(each for each in RULES if each.name == CURES[name])
    usable = rule.effect != "lossy" and not rule.arguments

    chosen = choose(load_model(tmp_path / "model.onnx"), config)
    loaded = load_model(tmp_path / "model.onnx")
    findings = [f for f in lint(loaded, Target.of(config)) if f.deviation.name == name]

    assert any(name in each for each in chosen.get(rule.name, {}).values()) == usable
    assert why_skipped(findings, loaded) == [
        f"it needs to be told {', '.join(rule.arguments)}" if rule.arguments else None
        for _ in findings
    ]


@pytest.mark.parametrize("op_type", ["ReduceMean", "GlobalAveragePool"])
def test_a_mean_in_parts_loses_a_tenth_of_what_it_lost(op_type: str) -> None:
    (case,) = CASES[MITIGATED, op_type]
    x = feeds(case.proto)
    golden = run(case.proto, x)["y"]

    lost = np.abs(emulate(case.proto, x, **case.config)["y"] - golden).max()
    healed = edited(case.proto, CURES[MITIGATED] or "")

    assert np.abs(emulate(healed, x, **case.config)["y"] - golden).max() < lost / 10
