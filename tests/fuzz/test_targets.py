"""2000 ONNX files with something wrong, given to lint, the emulator and every rule.

`python -m tests.fuzz target NUMBER` takes one of them again.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import onnx
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.fuzz import targets
from tests.fuzz.fleet import Outcome, outcomes
from tests.fuzz.graphs import WEIGHTS_FILE
from tests.models import resize

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 2000
NAMED = re.compile(
    r"model\.onnx|(node|tensor|input|output|rule|precision_mode|domain) '"
    r"|opset|opset_import|local function"
)
"""What a refusal says where."""


def wrong(outcome: Outcome) -> str | None:
    """Return what is wrong with an outcome, or None."""
    if outcome.escaped:
        return f"outside of the folder: {outcome.escaped}"
    if outcome.how == "passed":
        return None
    if outcome.how != "refused":
        return f"{outcome.how}: {outcome.said}"
    if outcome.exit_code not in (StageError.exit_code, NotModelledError.exit_code):
        return f"exit code {outcome.exit_code}"
    return None if NAMED.search(outcome.said) else f"names nothing: {outcome.said}"


@pytest.mark.slow
def test_each_mutated_file_is_judged_or_refused_by_name(tmp_path: Path) -> None:
    found = list(outcomes("target", range(COUNT), tmp_path))
    bad = {(o.number, o.stage): why for o in found if (why := wrong(o)) is not None}

    assert bad == {}
    assert len(found) == COUNT
    # What is all refused at the door tries nothing behind it.
    behind = [o for o in found if o.stage != "lint"]
    assert len(behind) > COUNT // 4
    assert sum(outcome.how == "passed" for outcome in found) > COUNT // 20


def test_outcome_that_is_wrong_is_found() -> None:
    good = Outcome(1, "refused", "lint", "model.onnx: no", 2)

    assert wrong(good) is None
    for bad in (
        replace(good, said="no"),
        replace(good, how="bug"),
        replace(good, how="crashed"),
        replace(good, how="hung"),
        replace(good, exit_code=1),
        replace(good, escaped=("x",)),
    ):
        assert wrong(bad) is not None


def test_rule_that_breaks_its_promise_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(resize([1, 1, 4, 4], sizes=[1, 1, 8, 8], mode="linear"), file)
    monkeypatch.setattr(targets, "why_broken", lambda *_: "it did")
    (tmp_path / WEIGHTS_FILE).touch()
    (tmp_path / "to").mkdir()

    with pytest.raises(targets.BrokenPromiseError, match="it did"):
        targets._rewrite(file, tmp_path / "to" / "edited.onnx")


def test_seeds_are_half_random_operators_and_half_of_every_kind() -> None:
    made = [targets.seed(random.Random(number)) for number in range(100)]  # noqa: S311

    assert 30 < sum(each.graph.name == "graph" for each in made) < 70
