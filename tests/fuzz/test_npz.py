"""500 sample files with something wrong: each is read as numpy reads it, or refused.

`python -m tests.fuzz npz NUMBER` takes one of them again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.errors import StageError
from tests.fuzz import archives
from tests.fuzz.fleet import Outcome, outcomes

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 500
NAMED = re.compile(
    r"^inputs/.+\.npz is not a readable|sample|number 0|(input|label) '", re.DOTALL
)


def wrong(outcome: Outcome) -> str | None:
    """Return what is wrong with an outcome, or None."""
    if (why := outcome.why_bad(StageError.exit_code)) or outcome.how == "passed":
        return why
    return None if NAMED.search(outcome.said) else f"names nothing: {outcome.said}"


@pytest.mark.slow
def test_each_mutated_file_is_read_as_it_is_or_refused_by_name(tmp_path: Path) -> None:
    found = list(outcomes("npz", range(COUNT), tmp_path))
    bad = {outcome.case: why for outcome in found if (why := wrong(outcome)) is not None}

    assert bad == {}
    assert len(found) == COUNT
    assert sum(outcome.how == "passed" for outcome in found) > COUNT // 20


def test_trap_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("trap.npy", np.array([archives.Trap()], object), allow_pickle=True)
    (opened,) = np.load("trap.npy", allow_pickle=True)
    opened.close()

    assert (tmp_path / archives.MARK).exists()


def test_outcome_that_is_wrong_is_found() -> None:
    good = Outcome(1, "refused", "samples", "inputs/s.npz is not a readable file", 2)

    assert wrong(good) is None
    assert wrong(replace(good, said="no")) is not None
    assert wrong(replace(good, how="bug")) is not None
    assert wrong(replace(good, exit_code=3)) is not None
    assert wrong(replace(good, escaped=("x",))) is not None
