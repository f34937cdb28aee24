"""What cannot be run is told in one message, with exit code 3 and no traceback."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout


@pytest.fixture(scope="module")
def unbuilt(fresh_template: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return fresh_template.copied_to(tmp_path_factory.mktemp("unbuilt") / "repository")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["modle=toy"],
            "modle= is not a variable of this project\n  hint: did you mean model=?",
        ),
        (
            ["model=toi"],
            "there is no pipelines/toi/manifest.yaml\n  hint: did you mean 'toy'?",
        ),
        (["model=z*"], "there is no pipelines/z*/manifest.yaml\n  hint: there are toy"),
        (["model="], "model= is empty"),
        (
            ["soc=Ascend310P9"],
            (
                "soc=Ascend310P9 is not a known soc_version\n  hint: did you mean "
                "'Ascend310P1' or 'Ascend310P3' or 'Ascend310P5' or 'Ascend310P7'?"
            ),
        ),
        (["precision=fp61"], "precision=fp61 is not a known precision_mode"),
        (
            ["precision=force_fp32"],
            (
                "precision=force_fp32 on the command line, the rest of pipelines/toy/"
                "manifest.yaml: convert: precision_mode 'force_fp32' is not modelled on "
                "ascend310p: its matrix unit has no fp32; modelled: force_fp16, "
                "must_keep_origin_dtype, allow_fp32_to_fp16, allow_mix_precision; "
                "force_fp32 on Ascend310B1 to Ascend310B4, "
            ),
        ),
        (
            ["convert:toi"],
            "no task or command 'convert:toi'\n  hint: did you mean 'convert:toy'",
        ),
        (
            ["convert:toy", "soc=Ascend310B1"],
            "hint: did you mean 'convert:toy@Ascend310B1-force_fp16'?",
        ),
        (["covert:toy"], "hint: did you mean 'convert:toy'?"),
        (["info", "covert:toy"], "hint: did you mean 'convert:toy'?"),
        (["ignroe"], "no task or command 'ignroe'\n  hint: did you mean 'info'?"),
        (["zzz"], 'Invalid parameter: "zzz"'),
        (["clean", "tyo"], "no task or command 'tyo'\n  hint: did you mean 'toy'?"),
        (["explain", "convrt"], "'convrt' is not a stage\n  hint: did you mean 'convert'?"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_is_not_there_is_refused_with_a_suggestion(
    unbuilt: Checkout, arguments: list[str], said: str
) -> None:
    run = unbuilt.doit(*arguments)

    assert run.code == 3
    assert "ERROR: " in run.text
    assert said in run.text
    assert not run.has_traceback
    assert not unbuilt.path("build").exists() or not list(
        unbuilt.path("build").glob("*/*/*")
    )


@pytest.mark.parametrize(
    "command", [[], ["list"], ["info", "convert:toy"], ["explain"]], ids=str
)
def test_every_broken_manifest_is_told_of_at_once(
    fresh: Checkout, command: list[str]
) -> None:
    fresh.add_model("two")
    fresh.edit("pipelines/toy/manifest.yaml", "  precision_mode", "  precison_mode")
    fresh.edit("pipelines/two/manifest.yaml", "rewrite:", "rewritte:")
    run = fresh.doit(*command)

    assert run.code == 3
    assert (
        "pipelines/toy/manifest.yaml:13: convert.precison_mode is not a known key"
        in run.text
    )
    assert "pipelines/two/manifest.yaml:8: rewritte is not a known key" in run.text
    assert not run.has_traceback


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'cann: "8.1"',
            'cann: "8.11"',
            (
                ":11: convert.cann '8.11' is not modelled: it is no release that is known; "
                "after 8.5 the next is 9.0; the packages of a release have numbers of "
                "their own; known: 5.0 to 5.1, 6.0 to 6.3, 7.0, 8.0 to 8.5, 9.0 to 9.1\n"
            ),
        ),
        (
            "Ascend310P3",
            "Ascend610",
            (
                ":12: convert.soc_version 'Ascend610' is not modelled: its arithmetic is "
                "unknown; modelled: Ascend310, Ascend310P1 to Ascend310P7, "
            ),
        ),
        (
            "precision_mode: force_fp16",
            "precision_mode_v2: mixed_hif8",
            ":13: convert.precision_mode_v2 'mixed_hif8' is not modelled yet; modelled: ",
        ),
    ],
    ids=["cann", "soc", "precision"],
)
def test_target_that_is_not_modelled_is_told_with_its_line(
    unbuilt: Checkout, old: str, new: str, told: str
) -> None:
    unbuilt.edit("pipelines/toy/manifest.yaml", old, new)
    run = unbuilt.doit()
    unbuilt.edit("pipelines/toy/manifest.yaml", new, old)

    assert run.code == 3
    assert f"pipelines/toy/manifest.yaml{told}" in run.text


def test_list_names_the_other_models_beside_a_broken_one(fresh: Checkout) -> None:
    fresh.add_model("two")
    fresh.edit("pipelines/two/manifest.yaml", "rewrite:", "rewritte:")
    run = fresh.doit("list", "--all")

    assert run.code == 3
    assert "convert:toy " in run.text
    assert ":two" not in run.text
    assert run.text.endswith(
        "ERROR: pipelines/two/manifest.yaml:8: rewritte is not a known key\n"
        "  hint: did you mean 'rewrite'?\n"
    )


def test_list_obeys_no_name_that_a_broken_manifest_leads_to(fresh: Checkout) -> None:
    model = fresh.path("pipelines/toy/model.py")
    model.unlink()
    model.symlink_to("/elsewhere/\x1b[31mmodel.py")
    run = fresh.doit("list", "--all")

    assert run.code == 3
    assert "\x1b" not in run.text
    assert r"leads out of the repository, to /elsewhere/\x1b[31mmodel.py" in run.text


def test_only_the_selected_manifests_are_loaded(checkout: Checkout) -> None:
    checkout.add_model("two")
    checkout.edit("pipelines/two/manifest.yaml", "rewrite:", "rewritte:")

    assert checkout.doit("model=toy").code == 0
    assert checkout.doit("model=t*").code == 3


@pytest.mark.parametrize("command", [[], ["list"], ["explain"]], ids=str)
def test_repository_without_pipelines_is_told_how_to_begin(
    fresh: Checkout, command: list[str]
) -> None:
    fresh.path("pipelines").rename(fresh.path("elsewhere"))
    run = fresh.doit(*command)

    assert run.code == 3
    assert "there are none yet: run `ascendflow init MODEL`" in run.text
    assert not run.has_traceback


def test_empty_argument_is_no_traceback_in_ascendflow(
    checkout: Checkout, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ascendflow.cli", ""],
        cwd=checkout.path("pipelines/toy"),  # it looks for dodo.py in parent folders too
        env={"PYTHONPATH": str(checkout.folder), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "toy: passed" in done.stdout
