"""What a run does when nothing was built, when all was, and when it is forced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, PASSED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout
    from tests.pipelines.conftest import FirstRun

HEAVY = (
    *("torch", "onnx", "onnx_ir", "onnxruntime", "onnxsim", "numpy", "pydantic"),
    *("ruamel", "jsonschema", "rich", "jinja2"),
)
LIST_MODULES = """\
import atexit, json, os, sys
path = os.environ.get("LIST_MODULES")
if path:
    atexit.register(lambda: open(path, "w").write(json.dumps(sorted(sys.modules))))
"""


def test_first_run_executes_every_stage_and_tells_the_verdict(first_run: FirstRun) -> None:
    run = first_run.run

    assert run.code == 0
    assert run.executed == ALL
    assert run.restored == []
    assert "cosine_similarity" in run.text
    assert run.text.endswith(f"{PASSED}\n")


def test_second_run_executes_nothing_and_says_one_line(checkout: Checkout) -> None:
    """PL01, PL02."""
    run = checkout.doit("model=toy")

    skipped = [f"-- {stage}:toy" for stage in ALL]
    assert run.code == 0
    assert run.text.splitlines() == [*skipped, ".  toy", PASSED]


@pytest.mark.parametrize(
    "options", [["-n", "4"], ["-n", "4", "-P", "process"]], ids=["threads", "processes"]
)
def test_stages_of_several_models_run_at_once_and_make_the_same(
    fresh: Checkout, first_run: FirstRun, options: list[str]
) -> None:
    """PL11: both ways of running at once; nothing is up to date."""
    for model in ("two", "three", "four"):
        fresh.add_model(model)
    run = fresh.doit(*options)
    again = fresh.doit(*options)

    assert run.code == again.code == 0
    # Stages of one key are made once; the others wait for them, or find them done.
    done = [*run.executed, *run.restored]
    assert sorted(done) == sorted([name for name in ALL for _ in range(4)])
    assert artifacts(fresh) == artifacts(first_run.checkout)
    for stage in ALL:
        # inotify cannot tell two children of one folder apart: a file that one of them
        # opened may count for the other too, which costs a rerun and never a wrong hit.
        alone = first_run.checkout.record(stage)["reads"]["files"]
        assert fresh.record(stage)["reads"]["files"].items() >= alone.items()
    assert (again.executed, again.restored) == ([], [])


def artifacts(checkout: Checkout) -> dict[str, bytes]:
    """Read every artifact of `toy`, without the records."""
    outputs = checkout.outputs("toy").items()
    return {path: data for path, data in outputs if not path.endswith("record.json")}


def test_up_to_date_run_shows_the_table_when_asked(checkout: Checkout) -> None:
    run = checkout.doit("-v", "2", "model=toy")

    assert run.executed == []
    assert "cosine_similarity" in run.text
    assert run.text.endswith(f"{PASSED}\n")


def test_one_stage_asked_for_builds_up_to_there(fresh: Checkout) -> None:
    run = fresh.doit("simplify:toy")

    assert run.code == 0
    assert sorted(run.executed) == ["export", "golden", "samples", "simplify"]
    assert not fresh.path("build/toy/rewrite").exists()


def test_up_to_date_run_imports_nothing_heavy(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LIST_MODULES)
    listed = tmp_path / "modules.json"
    environment = {
        "PYTHONPATH": f"{checkout.folder}:{tmp_path / 'site'}",
        "LIST_MODULES": str(listed),
    }

    checkout.doit("model=toy")  # a copy of a checkout, which is planned anew
    run = checkout.doit("model=toy", **environment)
    modules = json.loads(listed.read_text())

    assert run.text.endswith(f"{PASSED}\n")
    assert "ascendflow.tasks" in modules
    assert [m for m in modules if m.partition(".")[0] in HEAVY] == []

    checkout.edit(
        "ascendflow/tasks/__init__.py", "annotations", "annotations; import numpy"
    )
    checkout.doit("model=toy", **environment)

    assert "numpy" in json.loads(listed.read_text())


def test_warning_is_told_in_every_run_and_is_in_the_report(checkout: Checkout) -> None:
    checkout.inject("golden", "ctx.findings.warnings.append('it says nothing')")
    first, later = checkout.doit("model=toy"), checkout.doit("model=toy")
    report = json.loads(checkout.path("build/toy/report/report.json").read_text())

    # The artifacts are what they were, so that what lies between is not run again.
    assert first.executed == ["golden", "report"]
    assert (later.executed, later.restored) == ([], [])
    assert later.text.endswith(f"warning: golden: it says nothing\n{PASSED}\n")
    assert first.text.count("it says nothing") == 1
    assert first.text.endswith(f"1 warning above, of golden\n{PASSED}\n")
    assert report["warnings"] == [{"stage": "golden", "text": "it says nothing"}]


def test_forced_run_repeats_every_stage_and_changes_nothing(checkout: Checkout) -> None:
    before = checkout.outputs()

    run = checkout.doit("-a", "model=toy")

    assert run.code == 0
    assert run.stages("repeated") == ALL
    assert "not deterministic" not in run.text
    assert run.text.endswith("repeated 13 stages: nothing came out otherwise\n")
    assert checkout.outputs() == before


@pytest.mark.parametrize(
    "options", [[], ["-n", "2"], ["-n", "2", "-P", "process"]], ids=" ".join
)
def test_stage_that_is_not_deterministic_is_reported_and_its_record_stays(
    checkout: Checkout, options: list[str]
) -> None:
    counter = checkout.folder.parent / "counter"
    checkout.inject(
        "convert",
        "ctx.outputs['model'].mkdir()",
        f"with open({str(counter)!r}, 'a+') as file:",
        "    file.write('x')",
        "    file.seek(0)",
        "    (ctx.outputs['model'] / 'count').write_text(file.read())",
    )
    first = checkout.doit("convert:toy")
    before = checkout.outputs()

    run = checkout.doit("-a", *options, "convert:toy")

    assert first.executed == ["convert"]
    assert counter.read_text() == "xx"
    assert run.code == 0
    assert "warning: convert:toy is not deterministic: model came out" in run.text
    assert "stages: otherwise than recorded: convert:toy\n" in run.text
    assert "conversion.json" not in run.text
    assert checkout.outputs() == before
    assert checkout.doit("convert:toy").stages("repeated") == []
