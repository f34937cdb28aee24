"""An edit runs exactly the stages that it can change, and undoing it runs none."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.checkouts import ALL, FROM_LINT, FROM_REWRITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.checkouts import Checkout

MANIFEST = "pipelines/toy/manifest.yaml"
RULES = "rewrite: {rules: [resize-half-pixel]}"
PRECISION = "precision_mode: force_fp16"
AFTER_SAMPLES = ["samples", "golden", "simplify", "check", "infer", "compare", "evaluate"]


@dataclass(frozen=True)
class Edit:
    """One edit of a file.

    Attributes:
        path: the file, in the checkout.
        old: what is replaced.
        new: by what.
        executes: the stages that must run, and no others.
        stage: one of them whose reason `explain` gives.
        reason: what it says.
    """

    path: str
    old: str
    new: str
    executes: list[str]
    stage: str
    reason: str


EDITS = {
    "rule": Edit(
        MANIFEST,
        RULES,
        "rewrite: {rules: [{name: resize-half-pixel, count: 3}]}",
        FROM_REWRITE,
        "rewrite",
        "config.rules[0].count changed: None -> 3",
    ),
    "threshold": Edit(
        MANIFEST,
        "min: 0.9}",
        "min: 0.8}",
        ["gate", "report"],
        "gate",
        "config.outputs.*.cosine_similarity.min changed: 0.9 -> 0.8",
    ),
    # PL08: a flag of the compiler.
    "precision": Edit(
        MANIFEST,
        PRECISION,
        "precision_mode: must_keep_origin_dtype",
        FROM_LINT,
        "convert",
        "config.precision_mode changed: 'force_fp16' -> 'must_keep_origin_dtype'",
    ),
    "helper-module": Edit(
        "pipelines/toy/strokes.py",
        "return 3",
        "return 4",
        [*AFTER_SAMPLES, "gate", "report"],
        "samples",
        "pipeline:strokes.py, which it read, changed: ",
    ),
    # Its output is the same, so nothing after it runs.
    "helper-module-that-gives-the-same": Edit(
        "pipelines/toy/strokes.py",
        "return 3",
        "return 2 + 1",
        ["samples"],
        "samples",
        "pipeline:strokes.py, which it read, changed: ",
    ),
    "metric": Edit(
        "pipelines/toy/metric.py",
        "0.8",
        "0.7",
        ["evaluate", "gate", "report"],
        "evaluate",
        "pipeline:metric.py, which it read, changed: ",
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_edit_runs_what_it_can_change_and_undone_it_runs_nothing(
    checkout: Checkout, edit: Edit
) -> None:
    """PL03, PL08, PL16."""
    before = checkout.outputs()
    checkout.edit(edit.path, edit.old, edit.new)
    explained = checkout.doit("explain", edit.stage, "model=toy").text
    run = checkout.doit("model=toy")
    checkout.edit(edit.path, edit.new, edit.old)
    undone = checkout.doit("model=toy")

    assert edit.reason in explained
    assert sorted(run.executed) == sorted(edit.executes)
    assert undone.executed == []
    assert edit.stage in undone.restored
    assert checkout.outputs() == before


def test_report_is_of_what_was_edited_at_the_other_end(checkout: Checkout) -> None:
    """PL03."""

    def digest(path: str) -> str:
        content = checkout.path(f"build/toy/{path}").read_bytes()
        return hashlib.sha256(content).hexdigest()

    def read(path: str) -> Any:
        return json.loads(checkout.path(f"build/toy/{path}").read_text())

    before = digest("samples/samples/content.json")
    checkout.edit(MANIFEST, "count: 2", "count: 1")
    run = checkout.doit("report:toy")
    samples = digest("samples/samples/content.json")

    assert run.executed[-1] == "report"
    assert samples != before
    golden = read("golden/golden/content.json")["inputs"]
    assert golden["samples"] == samples
    assert read("gate/verdict.json")["judged"]["metrics.json"] == digest(
        "compare/metrics.json"
    )
    assert read("report/report.json")["content"]["inputs"]["verdict.json"] == digest(
        "gate/verdict.json"
    )


def test_new_picture_runs_samples_and_what_follows_but_no_export(
    checkout: Checkout,
) -> None:
    checkout.path("pipelines/toy/pictures/two.txt").write_text("another picture")
    explained = checkout.doit("explain", "samples").text
    run = checkout.doit()

    assert "the names in folder pipeline:pictures changed" in explained
    assert sorted(run.executed) == sorted([*AFTER_SAMPLES, "gate", "report"])
    # The simplified model came out the same: early cut-off.
    assert {"-- export:toy", "-- rewrite:toy", "-- convert:toy"} <= set(
        run.text.split("\n")
    )


def _comment(text: str) -> str:
    return "# a comment\n" + text.replace("gate:\n", "# another\ngate:\n")


def _key_order(text: str) -> str:
    head, marker, tail = text.partition("evaluate:")
    return marker + tail + head


def _block_layout(text: str) -> str:
    return text.replace(RULES, 'rewrite:\n  rules:\n    - "resize-half-pixel"')


def _defaults_spelt(text: str) -> str:
    return text + "simplify: {enabled: true}\ninfer: {threads: 1}\n"


@pytest.mark.parametrize(
    "edit", [_comment, _key_order, _block_layout, _defaults_spelt], ids=lambda e: e.__name__
)
def test_layout_of_the_manifest_does_not_count(
    checkout: Checkout, edit: Callable[[str], str]
) -> None:
    """PL16."""
    manifest = checkout.path(MANIFEST)
    old = manifest.read_text()
    manifest.write_text(edit(old))
    run = checkout.doit()

    assert manifest.read_text() != old
    assert (run.code, run.executed, run.restored) == (0, [], [])


def test_content_with_its_mtime_put_back_is_noticed(checkout: Checkout) -> None:
    """PL06, the other way round."""
    picture = checkout.path("pipelines/toy/pictures/one.txt")
    stat = picture.stat()
    picture.write_text("A PICTURE")
    os.utime(picture, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert picture.stat().st_size == stat.st_size
    assert picture.stat().st_mtime_ns == stat.st_mtime_ns
    assert checkout.doit("samples:toy").executed == ["samples"]


def test_touched_files_run_nothing(checkout: Checkout) -> None:
    """PL06."""
    for path in checkout.folder.rglob("*"):
        if path.is_file() and ".ascendflow" not in path.parts:
            os.utime(path)
    run = checkout.doit()

    assert (run.code, run.executed, run.restored) == (0, [], [])


def test_files_from_the_future_run_nothing_and_their_edits_are_noticed(
    checkout: Checkout,
) -> None:
    """As after a clock was set back: no order of times is trusted."""
    ahead = time.time() + 365 * 86400
    for path in checkout.folder.rglob("*"):
        os.utime(path, (ahead, ahead))
    unchanged = checkout.doit()
    metric = checkout.path("pipelines/toy/metric.py")
    checkout.edit("pipelines/toy/metric.py", "0.8", "0.7")
    os.utime(metric, (ahead - 86400, ahead - 86400))
    edited = checkout.doit()

    assert (unchanged.code, unchanged.executed, unchanged.restored) == (0, [], [])
    assert (edited.code, edited.executed) == (0, ["evaluate", "gate", "report"])


def test_second_soc_only_restores_what_is_before_lint(checkout: Checkout) -> None:
    run = checkout.doit("model=toy", "soc=Ascend310B1")
    tasks = checkout.doit("list", "--all", "soc=Ascend310B1", "precision=force_fp16").text
    again = checkout.doit("model=toy", "soc=Ascend310B1", "precision=force_fp16")
    first = checkout.doit("model=toy")

    name = "toy@Ascend310B1-force_fp16"
    assert run.code == 0
    assert sorted(run.executed) == sorted(FROM_LINT)
    assert sorted(run.restored) == sorted(set(ALL) - set(FROM_LINT))
    assert f"convert:{name} executed" in run.text
    assert checkout.path(f"build/{name}/convert/model").is_dir()
    assert f"convert:{name} " in tasks
    assert (again.executed, again.restored) == ([], [])
    assert (first.executed, first.restored) == ([], [])


def test_precision_variable_spells_the_default_soc(checkout: Checkout) -> None:
    run = checkout.doit("convert:toy@Ascend310P3-force_fp32", "precision=force_fp32")
    kept = checkout.doit(
        "convert:toy@Ascend310P3-must_keep_origin_dtype", "precision=must_keep_origin_dtype"
    )

    assert run.code == 3
    assert "'force_fp32' is not modelled on ascend310p" in run.text
    assert kept.executed == ["lint", "convert"]
    assert checkout.path("build/toy@Ascend310P3-must_keep_origin_dtype/convert").is_dir()


def test_package_beside_a_module_takes_its_place_and_is_noticed(
    first_run: object, checkout: Checkout
) -> None:
    """Python prefers it; nothing is opened that would tell."""
    del first_run
    package = checkout.path("pipelines/toy/strokes/__init__.py")
    package.parent.mkdir()
    package.write_text("def width():\n    return 7\n")

    assert "samples" in checkout.doit("model=toy").executed
    assert "pipeline:strokes/__init__.py" in checkout.record("samples")["reads"]["files"]
