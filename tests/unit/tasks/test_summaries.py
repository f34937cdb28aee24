from __future__ import annotations

import re
from pathlib import Path

import pytest

from ascendflow.stages import load_stage
from ascendflow.tasks.summaries import SUMMARIES
from ascendflow.vocabulary import STAGES

README = Path(__file__).resolve().parents[3] / "README.md"


def test_every_stage_has_a_summary_in_pipeline_order() -> None:
    assert tuple(SUMMARIES) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_file_to_read_is_one_that_the_stage_makes(stage: str) -> None:
    role, _, _ = SUMMARIES[stage].read.partition("/")

    assert role in load_stage(stage).produces


def test_table_of_the_readme_says_the_same() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.+) \| `(\S+)` \|$", README.read_text(), re.MULTILINE
    )
    found = {stage: (does, read) for stage, does, read in rows if stage in SUMMARIES}

    assert found == {name: tuple(summary) for name, summary in SUMMARIES.items()}
