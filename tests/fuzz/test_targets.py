"""2000 ONNX files with something wrong, given to lint, the emulator and every rule.

`python -m tests.fuzz target CASE` takes one again; a failure prints its smallest CASE.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import onnx
import pytest
from hypothesis import Phase, find, given, settings

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.survey import survey
from ascendflow.errors import NotModelledError, StageError
from tests.emulation import target
from tests.fuzz import targets
from tests.fuzz.fleet import Fleet, Outcome
from tests.fuzz.graphs import WEIGHTS_FILE
from tests.fuzz.recipes import Recipe, recipes
from tests.models import resize

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.lint import Lint

COUNT = 2000
AGAIN = 400
"""Of what hypothesis makes up, these may be the same once more, which costs nothing."""
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
    fleet, taken = Fleet(tmp_path), dict[Recipe, Outcome]()

    phases = set(Phase) - {Phase.explain}

    @settings(max_examples=COUNT + AGAIN, database=None, phases=phases)
    @given(recipes())
    def judge(recipe: Recipe) -> None:
        if recipe not in taken:
            taken[recipe] = fleet.take("target", recipe.to_json())
        assert wrong(taken[recipe]) is None, json.dumps(recipe.to_json())

    try:
        judge()
    finally:
        fleet.end()

    found = list(taken.values())
    assert len(found) >= COUNT
    # What is all refused at the door tries nothing behind it.
    behind = [outcome for outcome in found if outcome.stage != "lint"]
    assert len(behind) > COUNT // 4
    assert sum(outcome.how == "passed" for outcome in found) > COUNT // 20


def test_refusal_that_lint_does_not_tell_is_found(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(resize([1, 1, 2, 2], sizes=[1, 1, 4, 4], mode="cubic"), file)
    config = target()
    told = survey(file, config)
    with pytest.raises(StageError) as caught:
        Emulator().compile(file, tmp_path / "model", config)
    passed: Lint = {**told, "findings": []}

    assert targets.is_untold(str(caught.value), [passed])
    assert not targets.is_untold(str(caught.value), [told])
    assert not targets.is_untold(str(caught.value), [])  # lint could not read it
    assert not targets.is_untold("model.onnx: not a readable ONNX model: no", [passed])


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


def test_case_is_made_again_from_what_is_printed() -> None:
    recipe = Recipe.numbered(7)

    assert Recipe.of(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert recipe != Recipe.numbered(8)


def test_failing_case_is_shrunk_to_the_one_change_that_it_needs() -> None:
    found = find(recipes(), lambda recipe: any(kind == 3 for kind, _ in recipe.changes))

    assert found.changes == ((3, 0),)
    assert (found.model, found.longest, found.damages) == (0, 1, ())
