from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.build.missing import refuse_missing
from ascendflow.errors import ToolNotFoundError
from ascendflow.plan import Plan, PlannedStage
from tests.toolkits import config, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path


def plan(**configs: dict[str, Any]) -> Plan:
    stages = [
        PlannedStage(name, given, {}, (), {}, (), (), (), False, {}, 1, None, None)
        for name, given in configs.items()
    ]
    return Plan("net", "net", "pipelines/net", {}, tuple(stages))


def test_only_what_the_run_comes_to_is_looked_for(tmp_path: Path) -> None:
    made = plan(export={}, convert=config(tmp_path / "cann", tmp_path / "python3"))

    refuse_missing(made, {"export"})
    with pytest.raises(ToolNotFoundError) as caught:
        refuse_missing(made, {"export", "convert"})

    told = caught.value.message
    assert f"convert.toolkit: {tmp_path}/cann holds no atc" in told
    assert f"convert.python: {tmp_path}/python3 is not there" in told


def test_nothing_is_said_where_nothing_is_missing(tmp_path: Path) -> None:
    given = config(make_toolkit(tmp_path / "cann"), make_python(tmp_path / "py"))

    refuse_missing(plan(convert=given), {"convert"})
    refuse_missing(plan(convert={"backend": "emulator"}), {"convert"})
