"""The tasks that doit gets, made from real manifests; nothing runs."""

from __future__ import annotations

import json
import os
import sys
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

import pytest
from doit import doit_cmd
from doit.exceptions import InvalidDodoFile

from ascendflow.tasks import pipelines, session
from ascendflow.tasks.pipelines import DOIT_CONFIG, task_pipelines
from ascendflow.tasks.session import Session
from tests.checkouts import ALL as STAGES
from tests.checkouts import DATA, MANIFEST, METRIC, MODEL

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doit_cmd, "_CMDLINE_VARS", None)
    for module in (pipelines, session):
        monkeypatch.setattr(module, "SESSION", Session())
    for model in ("toy", "two"):
        folder = tmp_path / "pipelines" / model
        folder.mkdir(parents=True)
        (folder / "manifest.yaml").write_text(MANIFEST.format(model=model))
        for name, text in {"model": MODEL, "data": DATA, "metric": METRIC}.items():
            (folder / f"{name}.py").write_text(text)
    return tmp_path


def tasks(*arguments: str) -> dict[str, dict[str, Any]]:
    doit_cmd.DoitMain(config_filenames=()).process_args(list(arguments))
    made = {}
    for task in task_pipelines():
        name = (
            f"{task['basename']}:{task['name']}" if task.get("name") else task["basename"]
        )
        made[name] = task
    return made


@pytest.mark.usefixtures("repository")
def test_each_model_has_a_task_per_stage_and_one_of_its_name() -> None:
    names = tasks().keys()

    expected = {f"{stage}:{model}" for stage in STAGES for model in ("toy", "two")}
    assert names == expected | {"toy", "two"} | set(STAGES)


def first(made: dict[str, Any], name: str) -> set[str]:
    """Name all tasks that doit runs before one."""
    after = set(made[name].get("task_dep", ()))
    return after.union(*(first(made, each) for each in after))


@pytest.mark.usefixtures("repository")
def test_nothing_depends_on_the_task_that_enforces_the_verdict() -> None:
    """Else doit turns exit code 1 into 2. Groups are no exception."""
    made = tasks()

    assert first(made, "toy") == {f"{stage}:toy" for stage in STAGES}
    for task in made.values():
        assert not {"toy", "two"} & set(task.get("task_dep", ()))


@pytest.mark.usefixtures("repository")
def test_verdict_is_never_up_to_date() -> None:
    from doit.task import Task

    (never,) = tasks()["toy"]["uptodate"]

    assert never(Task("toy", None)) is False


@pytest.mark.usefixtures("repository")
def test_each_stage_has_one_uptodate_object_and_waits_for_what_makes_its_inputs() -> None:
    """PL01, PL02: one combined key. PL03: what comes before is a dependency."""
    made = tasks("model=toy")

    for stage in STAGES:
        assert len(made[f"{stage}:toy"]["uptodate"]) == 1
        assert "targets" not in made[f"{stage}:toy"]
    assert first(made, "check:toy") >= {"rewrite:toy", "samples:toy", "simplify:toy"}
    assert first(made, "samples:toy") == set()


@pytest.mark.usefixtures("repository")
def test_what_comes_first_anyway_is_no_dependency_of_its_own() -> None:
    """Of the thousands of pairs that a hundred models would have, doit looks at each."""
    made = tasks("model=toy")

    for task in made.values():
        after = set(task.get("task_dep", ()))
        assert not any(after & first(made, each) for each in after)
    assert made["toy"]["task_dep"] == ["report:toy"]


@pytest.mark.usefixtures("repository")
def test_variant_spells_both_of_its_axes() -> None:
    name = "toy@Ascend310B1-force_fp16"

    assert f"convert:{name}" in tasks("model=toy", "soc=Ascend310B1")
    assert name in tasks("model=toy", "soc=Ascend310B1", "precision=force_fp16")
    assert "toy@Ascend310P3-must_keep_origin_dtype" in tasks(
        "model=toy", "precision=must_keep_origin_dtype"
    )


def test_every_broken_manifest_is_told_at_once(repository: Path) -> None:
    for model in ("toy", "two"):
        path = repository / "pipelines" / model / "manifest.yaml"
        path.write_text(path.read_text().replace("rewrite:", "rewritte:"))

    with pytest.raises(InvalidDodoFile) as caught:
        tasks()
    assert str(caught.value).count("rewritte is not a known key") == 2


def test_doit_settings_name_what_pyproject_registers() -> None:
    from ascendflow.tasks.commands import DATABASES

    assert DOIT_CONFIG["backend"] in dict(DATABASES)


def test_plan_is_kept_until_what_it_is_made_from_changes(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ascendflow.tasks import planning

    made: list[str] = []
    new_plan = planning._new_plan

    def counted(*arguments: Any) -> Any:
        made.append(arguments[1])
        return new_plan(*arguments)

    monkeypatch.setattr(planning, "_new_plan", counted)
    tasks()
    tasks()
    once = list(made)
    (repository / "pyproject.toml").write_text("[tool.ascendflow.roots]\ndata = '/tmp'\n")
    tasks("model=toy")
    (repository / "build" / "two" / "plan.json").write_text('{"made_from": 1, "plan": {}}')
    tasks("model=two")
    manifest = repository / "pipelines" / "two" / "manifest.yaml"
    manifest.write_text(manifest.read_text() + "# a comment\n")
    tasks("model=two")
    tasks("model=two", "soc=Ascend310B1")
    tasks("model=two", "soc=Ascend310B1")

    assert once == ["toy", "two"]
    assert made == [*once, "toy", "two", "two", "two"]


def test_plan_is_made_anew_where_a_link_to_its_file_was_turned(repository: Path) -> None:
    """GR25."""
    manifest = repository / "pipelines" / "two" / "manifest.yaml"
    for name in ("a.onnx", "b.onnx"):
        (manifest.parent / name).write_bytes(b"the same")
    link = manifest.parent / "m.onnx"
    link.symlink_to("a.onnx")
    lines = manifest.read_text().splitlines()
    torch = next(line for line in lines if line.startswith("  torch:"))
    manifest.write_text(manifest.read_text().replace(torch, "  onnx: m.onnx"))

    def planned() -> str:
        tasks("model=two")
        kept = json.loads((repository / "build" / "two" / "plan.json").read_text())
        stages = {stage["name"]: stage for stage in kept["plan"]["stages"]}
        source: str = stages["export"]["files"]["source"]
        return source

    before = planned()
    link.unlink()
    link.symlink_to("b.onnx")

    assert (before, planned()) == ("pipeline:a.onnx", "pipeline:b.onnx")


def test_repository_whose_path_is_not_utf8_is_refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = repository / os.fsdecode(b"\xff")
    here.mkdir()
    monkeypatch.chdir(here)

    with pytest.raises(InvalidDodoFile, match="is not UTF-8"):
        tasks()


def test_folder_of_pipelines_that_cannot_be_listed_is_told(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = repository / "here"
    here.mkdir()
    (here / "pipelines").symlink_to("pipelines")
    monkeypatch.chdir(here)

    with pytest.raises(InvalidDodoFile, match=r"cannot use .*pipelines: Too many"):
        tasks()


def test_plan_that_cannot_be_kept_is_made_each_time(repository: Path) -> None:
    (repository / "build").write_text("no folder")

    assert "toy" in tasks("model=toy")


def test_output_takes_every_character(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del repository
    bytes_of = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(bytes_of, encoding="latin-1"))
    tasks()
    print("\ud800模", flush=True)  # noqa: T201

    assert bytes_of.getvalue() == b"\\ud800\\u6a21\n"
