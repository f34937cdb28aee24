from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.build.missing import refuse_missing, runs_after
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

    refuse_missing(made, {"export"}, tmp_path)
    with pytest.raises(ToolNotFoundError) as caught:
        refuse_missing(made, {"export", "convert"}, tmp_path)

    told = caught.value.message
    assert f"convert.toolkit: {tmp_path}/cann holds no atc" in told
    assert f"convert.python: {tmp_path}/python3 is not there" in told


def test_nothing_is_said_where_nothing_is_missing(tmp_path: Path) -> None:
    given = config(make_toolkit(tmp_path / "cann"), make_python(tmp_path / "py"))

    refuse_missing(plan(convert=given), {"convert"}, tmp_path)
    refuse_missing(plan(convert={"backend": "emulator"}), {"convert"}, tmp_path)


def test_it_is_told_of_which_backend_and_line_and_what_can_be_built(tmp_path: Path) -> None:
    folder = tmp_path / "pipelines" / "net"
    folder.mkdir(parents=True)
    text = (
        f"model: net\nconvert:\n  backend: [emulator, cann]\n  toolkit: {tmp_path}/cann\n"
    )
    (folder / "manifest.yaml").write_text(text)
    given = config(tmp_path / "cann", make_python(tmp_path / "py"))
    both = plan(**{"convert@emulator": {"backend": "emulator"}, "convert@cann": given})

    with pytest.raises(ToolNotFoundError) as caught:
        refuse_missing(both, {"convert@emulator", "convert@cann"}, tmp_path)
    with pytest.raises(ToolNotFoundError) as of_its_branch:
        refuse_missing(both, {"convert@cann"}, tmp_path)

    head, first, *_ = caught.value.message.splitlines()
    assert head == "net: backend cann lacks what it needs here:"
    assert (
        first
        == f"pipelines/net/manifest.yaml:4: convert.toolkit: {tmp_path}/cann holds no atc"
    )
    assert caught.value.hint == "`--continue` builds emulator all the same"
    assert of_its_branch.value.hint is None


def test_target_runs_after_what_it_needs_and_only_where_it_is_asked_for() -> None:
    def stage(name: str, *after: str) -> PlannedStage:
        inputs = {each: each for each in after}
        return PlannedStage(name, {}, inputs, (), {}, (), (), (), False, {}, 1, None, None)

    stages = [
        stage("golden"),
        stage("convert@cann", "golden"),
        stage("convert@emulator", "golden"),
        stage("infer@cann", "convert@cann"),
        stage("infer@emulator", "convert@emulator"),
        stage("compare@cann", "infer@cann"),
    ]
    made = Plan("net", "net", "pipelines/net", {}, tuple(stages))
    every = {each.name for each in stages}

    def found(number: int, asked: set[str] = every) -> list[str]:
        return [each.name for each in runs_after(made, stages[number], asked)]

    assert found(0) == ["infer@cann", "infer@emulator"]
    assert found(1) == ["infer@cann"]
    assert found(3) == found(5) == []
    assert found(0, {"golden", "convert@cann"}) == []
