"""What `explain` and `list` announce is what the next run does, whatever was edited."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ascendflow.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.checkouts import Checkout
    from tests.pipelines.conftest import FirstRun

MANIFEST = "pipelines/toy/manifest.yaml"


@dataclass(frozen=True)
class Toggle:
    """An edit that undoes itself the next time."""

    path: str
    one: str
    other: str

    def __call__(self, checkout: Checkout) -> None:
        """Edit, or undo it."""
        is_one = self.one in checkout.path(self.path).read_text()
        old, new = (self.one, self.other) if is_one else (self.other, self.one)
        checkout.edit(self.path, old, new)


def _drop(stage: str) -> Callable[[Checkout], None]:
    return lambda checkout: shutil.rmtree(checkout.path(f"build/toy/{stage}"))


def _damage(relative: str) -> Callable[[Checkout], None]:
    def damage(checkout: Checkout) -> None:
        with checkout.path(f"build/toy/{relative}").open("a") as file:
            file.write(" ")

    return damage


def _touch(checkout: Checkout) -> None:
    for path in checkout.path("pipelines").rglob("*"):
        os.utime(path)


EDITS: dict[str, Callable[[Checkout], None]] = {
    "samples": Toggle("pipelines/toy/strokes.py", "return 3", "return 4"),
    "same-samples": Toggle(
        "pipelines/toy/strokes.py", "def width", "# a remark\ndef width"
    ),
    "model": Toggle("pipelines/toy/model.py", "a model", "another model"),
    "metric": Toggle("pipelines/toy/metric.py", "0.8", "0.7"),
    "rule": Toggle(MANIFEST, "[resize-half-pixel]", "[]"),
    "target": Toggle(MANIFEST, "Ascend310P3", "Ascend310B1"),
    "threshold": Toggle(MANIFEST, "min: 0.9}", "min: 0.8}"),
    "layout": Toggle(MANIFEST, "gate:", "# a comment\ngate:"),
    "drop-check": _drop("check"),
    "drop-golden": _drop("golden"),
    "drop-gate": _drop("gate"),
    "damage-rewrite": _damage("rewrite/rewritten/content.json"),
    "damage-report": _damage("report/report.html"),
    "touch": _touch,
}


@pytest.fixture(scope="module")
def edited(first_run: FirstRun, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return first_run.checkout.copied_to(tmp_path_factory.mktemp("edited") / "repository")


@pytest.mark.slow
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(names=st.sets(st.sampled_from(sorted(EDITS)), min_size=1, max_size=4))
@example(names={"drop-check"})
@example(names={"layout", "touch", "same-samples"})
def test_run_does_what_was_announced(edited: Checkout, names: set[str]) -> None:
    """One checkout, edited more and more; each run leaves it up to date.

    A stage that is stale "after" others may still be current; `list` knows each by itself.
    """
    for name in sorted(names):
        EDITS[name](edited)
    explained = _states(edited.doit("explain").text)
    listed = edited.doit("list", "--all", "-s").text
    run = edited.doit()

    assert run.code == 0, run.text
    done = {*run.executed, *run.restored}
    stale = {stage for stage, lines in explained.items() if lines[0] == "stale"}
    sure = {stage for stage in stale if not explained[stage][1].startswith("after ")}
    assert sure <= done <= stale, f"{sorted(names)}\n{explained}\n{run.text}"
    rerun = {stage for stage in STAGES if f"R {stage}:toy" in listed}
    by_itself = {stage for stage in sure if "withdrawn while" not in explained[stage][1]}
    assert by_itself <= rerun <= stale, f"{sorted(names)}\n{explained}\n{listed}"


def _states(text: str) -> dict[str, list[str]]:
    """Read `explain`: stage -> its state, and why."""
    states: dict[str, list[str]] = {}
    for line in text.splitlines()[1:]:
        if line[2:3].strip():
            stage, _, state = line.strip().partition(" ")
            states[stage] = [state.strip()]
        else:
            states[stage].append(line.strip())
    return states
