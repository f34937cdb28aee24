"""500 ONNX files with something wrong, from `init` to the gate.

`python -m tests.fuzz onnx NUMBER` takes one of them again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import NotModelledError, StageError, UsageError
from tests.fuzz import graphs, journey
from tests.fuzz.fleet import Outcome, outcomes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import onnx

COUNT = 500
NAMED = re.compile(r"model\.onnx|(node|input|output|tensor) '|opsets")
"""What a refusal says where: the file, or what in it."""


def wrong(outcome: Outcome) -> str | None:
    """Return what is wrong with an outcome, or None."""
    code = UsageError.exit_code if outcome.stage == "init" else StageError.exit_code
    codes = code, NotModelledError.exit_code
    if (why := outcome.why_bad(*codes)) or outcome.how == "passed":
        return why
    return None if NAMED.search(outcome.said) else f"names nothing: {outcome.said}"


@pytest.mark.slow
def test_each_mutated_file_passes_or_is_refused_by_name(tmp_path: Path) -> None:
    found = list(outcomes("onnx", range(COUNT), tmp_path))
    bad = {(o.case, o.stage): why for o in found if (why := wrong(o)) is not None}

    assert bad == {}
    assert len(found) == COUNT
    # What is all refused at the door tries nothing behind it.
    ends = {outcome.stage for outcome in found}
    assert {"", "init", "samples", "export", "golden", "lint"} <= ends
    assert "convert" not in ends  # lint tells all that it would refuse
    assert sum(outcome.how == "passed" for outcome in found) > COUNT // 20


@pytest.mark.parametrize("seed", graphs.SEEDS, ids=lambda seed: seed.__name__)
def test_each_model_that_is_not_mutated_gets_at_least_to_lint(
    seed: Callable[[], onnx.ModelProto], tmp_path: Path
) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / graphs.WEIGHTS_FILE).write_bytes(graphs.WEIGHTS.tobytes())
    file = tmp_path / "model.onnx"
    file.write_bytes(seed().SerializeToString())
    verdict = journey.travel(file, tmp_path / "repository")

    # What the emulator does not model is told by lint, the first stage that cares.
    assert verdict.how == "passed" or (verdict.stage, verdict.exit_code) == ("lint", 3)


def test_outcome_that_is_wrong_is_found() -> None:
    good = Outcome(1, "refused", "export", "model.onnx: no", 2)

    assert wrong(good) is None
    assert wrong(replace(good, said="no")) is not None
    assert wrong(replace(good, how="bug")) is not None
    assert wrong(replace(good, how="crashed")) is not None
    assert wrong(replace(good, exit_code=1)) is not None
    assert wrong(replace(good, escaped=("x",))) is not None
    assert wrong(replace(good, stage="init")) is not None
