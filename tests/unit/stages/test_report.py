from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache.code import CodeDigests
from ascendflow.cache.index import Index
from ascendflow.child.command import child_argv, child_environment
from ascendflow.process import Limits, run_child
from ascendflow.reads.names import PACKAGE
from ascendflow.stages.report import Report
from tests.reports import failed, node, passed
from tests.stages import context

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {"model": "pan", "metric": None}


MODULES = ["ascendflow.stages.__main__", "ascendflow.stages.report"]


def _write(folder: Path, documents: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    for role, document in documents.items():
        (folder / role).write_text(json.dumps(document))


def _run(folder: Path, documents: dict[str, Any]) -> dict[str, bytes]:
    _write(folder, documents)
    ctx = context(Report, folder, CONFIG)
    Report().run(ctx)
    return {role: path.read_bytes() for role, path in ctx.outputs.items()}


@pytest.mark.parametrize("documents", [failed(), passed()], ids=["failed", "passed"])
def test_a_report_is_made_whatever_the_verdict(
    tmp_path: Path, documents: dict[str, Any]
) -> None:
    made = _run(tmp_path / "run", documents)

    report = json.loads(made["report.json"])
    assert report["passed"] is documents["verdict.json"]["passed"]
    assert made["report.html"].startswith(b"<!DOCTYPE html>")


def test_the_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    assert _run(tmp_path / "here", failed()) == _run(tmp_path / "there", failed())


def test_a_name_that_is_no_text_is_reported_nevertheless(tmp_path: Path) -> None:
    documents = failed()
    documents["metrics.json"]["nodes"] = [node("\udcff", "Conv", [], 0.5)]

    made = _run(tmp_path / "run", documents)

    assert b"\\udcff" in made["report.html"]


def test_the_child_records_the_templates_that_it_read(tmp_path: Path) -> None:
    repository, work = tmp_path / "repository", tmp_path / "repository" / "build" / "w"
    (repository / "pipelines" / "pan").mkdir(parents=True)
    _write(work / "in", failed())
    (work / "out").mkdir()
    code = CodeDigests(PACKAGE, Index(tmp_path / "index.tsv"), tmp_path / "code.json")
    spec = {
        "schema_version": 1,
        "stage": "report",
        "config": CONFIG,
        "inputs": {role: f"in/{role}" for role in Report.consumes},
        "files": {},
        "outputs": {role: f"out/{role}" for role in Report.produces},
        "folder": os.path.relpath(repository / "pipelines" / "pan", work),
        "repository": os.path.relpath(repository, work),
        "roots": {},
        "seed": 0,
        "modules": sorted(code.of(MODULES).modules),
        "python_path": [],
    }
    (work / "spec.json").write_text(json.dumps(spec))

    run_child(
        child_argv(work / "spec.json"),
        cwd=work,
        environment=child_environment({}, threads=1),
        log=work / "log.txt",
        limits=Limits(timeout_s=120),
    )

    result = json.loads((work / "result.json").read_text())
    assert result["ok"] is True, result
    templates = {path.name for path in (PACKAGE / "report" / "templates").iterdir()}
    assert result["reads"]["files"] == [
        f"ascendflow:report/templates/{name}"
        for name in sorted(templates - {"contrast.html.j2"})  # that of another stage
    ]
