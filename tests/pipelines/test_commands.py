"""Commands that only look, and those that take away."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

LOOKING = (
    ["list", "--all"],
    ["list", "--all", "-s"],
    ["info", "convert:toy"],
    ["explain"],
    ["forget"],
    ["clean", "-n"],
    ["clean"],
)
MODULES = ("model", "data", "metric", "strokes")
RAISES = "raise SystemExit('imported')\nbuild = test_samples = mean_iou = None\n"


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_looking_imports_no_code_of_the_user(
    checkout: Checkout, command: list[str]
) -> None:
    for module in MODULES:
        checkout.path(f"pipelines/toy/{module}.py").write_text(RAISES)
    run = checkout.doit(*command)

    assert "imported" not in run.text
    assert not run.has_traceback
    assert run.code in (0, 1)  # `info` says 1 of a stale task


def test_running_imports_it(checkout: Checkout) -> None:
    for module in MODULES:
        checkout.path(f"pipelines/toy/{module}.py").write_text(RAISES)

    assert "imported" in checkout.doit().text


@pytest.mark.parametrize("command", [["list", "--all", "-s"], ["explain"]], ids=" ".join)
def test_looking_where_nothing_was_built_is_no_error(
    fresh: Checkout, command: list[str]
) -> None:
    run = fresh.doit(*command)

    assert run.code == 0
    assert "convert" in run.text
    assert not run.has_traceback


def test_info_says_why_a_stage_would_run(fresh: Checkout) -> None:
    assert "- input rewritten is missing" in fresh.doit("info", "convert:toy").text
    run = fresh.doit("info", "samples:toy")

    assert run.code == 0
    assert "- never built\n" in run.text
    assert "kwargs" not in run.text


def test_a_task_of_a_model_that_is_not_selected_is_told_so(fresh: Checkout) -> None:
    fresh.add_model("other")
    for words in (["gate:toy"], ["info", "gate:toy"]):
        run = fresh.doit(*words, "model=other")

        assert run.code == 3
        assert "'gate:toy' is of model 'toy', which model=other leaves out\n" in run.text
        assert "hint: write model=toy, or no model=" in run.text


def test_explain_walks_the_chain(checkout: Checkout) -> None:
    checkout.edit("pipelines/toy/manifest.yaml", "resize-half-pixel", "")
    run = checkout.doit("explain")
    lines = [line for line in run.text.splitlines() if line[2:3].strip()]
    states = dict(line.split(maxsplit=1) for line in lines[1:])

    assert states["simplify"] == "up to date"
    assert states["rewrite"] == states["report"] == "stale"
    assert "config.rules: removed {'name': 'resize-half-pixel'}\n" in run.text
    assert "after rewrite, unless their outputs come out the same" in run.text


def test_explain_gives_a_stages_own_reasons_beside_those_before_it(
    checkout: Checkout,
) -> None:
    checkout.edit("pipelines/toy/data.py", "return [", "return [1, ")
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    lines = checkout.doit("explain", "evaluate").text.splitlines()

    assert "pipeline:metric.py, which it read, changed" in lines[2]
    assert lines[3].split() == ["and", "after", "golden,", "infer,", "samples"]


@pytest.mark.parametrize("command", ["gc", "list", "explain", "run", "clean", "init"])
def test_help_asked_for_behind_a_command_is_the_commands(
    checkout: Checkout, command: str
) -> None:
    run = checkout.doit(command, "--help")

    assert run.code == 0
    assert run.text.startswith("PURPOSE\n")
    assert "CmdOption" not in run.text
    assert "--db-file" not in run.text
    assert "--backend" not in run.text


def test_help_of_a_task_says_what_its_stage_does(checkout: Checkout) -> None:
    told = checkout.doit("help", "gate:toy").text
    listed = checkout.doit("list", "--all").text

    assert told.startswith("gate:toy  holds the numbers to the manifest's thresholds\n")
    rows = [line.split(maxsplit=1) for line in listed.splitlines()]
    assert all(len(row) == 2 for row in rows)


def test_explain_names_each_stage_once_for_one_that_is_none(checkout: Checkout) -> None:
    run = checkout.doit("explain", "x")

    assert run.code == 3
    assert run.text.count("simplify") == 1


def test_explain_says_that_the_verdict_is_withdrawn(checkout: Checkout) -> None:
    """Though none of what it judged is stale."""
    checkout.doit("clean", "check:toy")
    explained = checkout.doit("explain", "gate").text
    run = checkout.doit()

    assert "gate      stale\n" in explained
    assert "withdrawn while check is made again\n" in explained
    assert run.restored == ["check", "gate", "report"]


def test_explain_takes_the_name_of_a_task(checkout: Checkout) -> None:
    checkout.add_model("other")
    stage, task = checkout.doit("explain", "check"), checkout.doit("explain", "check:toy")
    unknown = checkout.doit("explain", "check:tyo")

    assert stage.text == (
        "other\n  check     stale\n              after rewrite, samples, simplify, unless "
        "their outputs come out the same\ntoy\n  check     up to date\n"
    )
    assert task.text == "toy\n  check     up to date\n"
    assert unknown.code == 3
    assert "'tyo' is not a run\n  hint: did you mean 'toy'?" in unknown.text


@pytest.mark.parametrize("what", ["model=toy", "toy"])
def test_clean_removes_the_build_folder_and_nothing_else(
    checkout: Checkout, what: str
) -> None:
    checkout.path("build/other").mkdir()
    before = _files(checkout.folder, but="build/toy")
    run = checkout.doit("clean", what)

    assert (run.code, run.text) == (0, "removed build/toy\n")
    assert not checkout.path("build/toy").exists()
    assert checkout.path("build/other").exists()
    assert _files(checkout.folder, but="build/toy") == before
    assert checkout.doit().restored == ALL


def test_clean_says_which_folders_it_leaves_and_how_they_go(checkout: Checkout) -> None:
    """What was built for another target stays, and so does what no model makes any more."""
    checkout.doit("soc=Ascend310B1", "samples")
    shutil.copytree(checkout.path("build/toy"), checkout.path("build/gone"))
    checkout.path("build/mine").mkdir()
    one_stage = checkout.doit("clean", "check:toy").text
    run = checkout.doit("clean")
    variant = run.text.splitlines()[2].split("`")[1].split()
    again = checkout.doit(*variant[1:])

    assert one_stage == "removed build/toy/check\n"
    assert run.text == (
        "removed build/toy\n"
        "left build/gone: there is no pipelines/gone any more, so remove the folder by "
        "hand\n"
        "left build/toy@Ascend310B1-force_fp16: `doit clean model=toy soc=Ascend310B1 "
        "precision=force_fp16` removes it\n"
    )
    assert again.text.startswith("removed build/toy@Ascend310B1-force_fp16\n")
    assert checkout.path("build/mine").exists()


def test_clean_of_one_stage_keeps_the_others(checkout: Checkout) -> None:
    assert (
        checkout.doit("clean", "-n", "check:toy").text == "would remove build/toy/check\n"
    )
    assert checkout.doit("clean", "check:toy").text == "removed build/toy/check\n"
    assert checkout.doit("clean", "check:toy").text == "nothing to remove\n"
    assert not checkout.path("build/toy/check").exists()
    assert checkout.path("build/toy/convert/model").exists()


def test_gc_keeps_what_the_build_folder_needs_and_drops_the_rest(
    checkout: Checkout,
) -> None:
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    checkout.doit()
    _age(checkout.path(".ascendflow/store"))
    kept = checkout.doit("gc")
    dropped = checkout.doit("gc", "--keep-days", "0")
    checkout.doit("clean")
    rebuilt = checkout.doit()
    checkout.edit("pipelines/toy/metric.py", "0.7", "0.8")
    undone = checkout.doit()

    assert kept.text == "removed 0 records and 0 blobs, 0.0 MB\n"
    assert dropped.text.startswith("removed 3 records and ")
    assert rebuilt.executed == []
    assert undone.executed == ["evaluate", "gate", "report"]


def test_gc_spares_what_a_running_build_has_just_stored(checkout: Checkout) -> None:
    checkout.doit("clean")
    run = checkout.doit("gc", "--keep-days", "0")

    assert run.text == "removed 0 records and 0 blobs, 0.0 MB\n"


def test_gc_of_a_cleaned_checkout_drops_everything(checkout: Checkout) -> None:
    checkout.doit("clean")
    _age(checkout.path(".ascendflow/store"))
    before = list(checkout.path(".ascendflow/store/blobs").glob("*/*"))
    checkout.doit("gc", "--keep-days", "0")

    assert before != []
    assert list(checkout.path(".ascendflow/store/blobs").glob("*/*")) == []
    assert list(checkout.path(".ascendflow/store/records").glob("*/*/*")) == []


def test_verify_store_finds_a_corrupt_blob_and_repairs(checkout: Checkout) -> None:
    good = checkout.doit("verify-store")
    blob = next(checkout.path(".ascendflow/store/blobs").glob("*/*"))
    blob.chmod(0o644)
    blob.write_bytes(b"?")
    found = checkout.doit("verify-store")
    is_kept = blob.exists()
    repaired = checkout.doit("verify-store", "--repair")
    again = checkout.doit("verify-store")

    assert (good.code, good.text) == (0, "store: all good\n")
    assert found.code == 2
    assert "is corrupt: its content now hashes to sha256:" in found.text
    assert "hint: run `doit verify-store --repair`" in found.text
    assert is_kept
    assert repaired.code == 0
    assert not blob.exists()
    assert (again.code, again.text) == (0, "store: all good\n")


def _files(folder: Path, *, but: str) -> list[str]:
    """Name all files but those that every run writes: doit's values, and bytecode."""
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    names = (path.relative_to(folder).as_posix() for path in paths)
    return sorted(name for name in names if not name.startswith((but, ".ascendflow/doit")))


def _age(folder: Path) -> None:
    """Make everything two days old."""
    then = time.time() - 2 * 86400
    for path in folder.rglob("*"):
        os.utime(path, (then, then))


def _listed(checkout: Checkout) -> str:
    lines = checkout.doit("list").text.splitlines()
    (line,) = [line for line in lines if line.split()[0] == "toy"]
    return " ".join(line.split())


def test_list_tells_how_each_model_stands(checkout: Checkout) -> None:
    about = "(every stage of toy, then its verdict)"
    standing = _listed(checkout)
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    edited = _listed(checkout)
    checkout.path("pipelines/toy/data.py").write_text(RAISES)
    checkout.doit("model=toy")
    failed = _listed(checkout)
    shutil.rmtree(checkout.path("build"))

    assert standing == f"toy gate passed {about}"
    assert edited == f"toy gate passed; evaluate is stale since {about}"
    assert failed == f"toy samples failed {about}"
    assert _listed(checkout) == f"toy not built {about}"


def test_list_tells_a_gate_that_failed(checkout: Checkout) -> None:
    path = checkout.path("build/toy/gate/verdict.json")
    verdict = json.loads(path.read_text())
    checks = [{"passed": False}, {"passed": True}, {"passed": None}]
    path.chmod(0o644)
    path.write_text(json.dumps({**verdict, "passed": False, "checks": checks}))

    listed = _listed(checkout)

    assert listed.startswith("toy gate FAILED (2 of 3 checks); gate is stale since (")
