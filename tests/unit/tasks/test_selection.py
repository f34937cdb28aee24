from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doit.exceptions import InvalidDodoFile

from ascendflow.tasks.selection import all_models, select_models

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ["det", "pan", "pan-small"]


def test_models_are_the_folders_with_a_manifest(tmp_path: Path) -> None:
    assert all_models(tmp_path) == []
    for name in ("pan", "det", "notes"):
        (tmp_path / "pipelines" / name).mkdir(parents=True)
    for name in ("pan", "det"):
        (tmp_path / "pipelines" / name / "manifest.yaml").touch()
    (tmp_path / "pipelines" / "README").touch()

    assert all_models(tmp_path) == ["det", "pan"]


def test_manifest_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    pipelines = tmp_path / "pipelines"
    for name in ("dangling", "folder", "loop", "notes"):
        (pipelines / name).mkdir(parents=True)
    (pipelines / "dangling" / "manifest.yaml").symlink_to("gone.yaml")
    (pipelines / "folder" / "manifest.yaml").mkdir()
    (pipelines / "loop" / "manifest.yaml").symlink_to("manifest.yaml")
    (pipelines / "no-folder").symlink_to("no-folder")

    assert all_models(tmp_path) == ["dangling", "folder", "loop"]


@pytest.mark.parametrize(
    ("wanted", "selected"),
    [
        (None, MODELS),
        ("pan", ["pan"]),
        ("pan,det", ["det", "pan"]),
        (" pan , det,", ["det", "pan"]),
        ("pan*", ["pan", "pan-small"]),
        ("*", MODELS),
        ("pan*,pan", ["pan", "pan-small"]),
    ],
)
def test_name_list_or_glob_selects(wanted: str | None, selected: list[str]) -> None:
    assert select_models(MODELS, wanted) == selected


@pytest.mark.parametrize(
    ("models", "wanted", "said"),
    [
        (
            MODELS,
            "pam",
            "there is no pipelines/pam/manifest.yaml\n  hint: did you mean 'pan'?",
        ),
        (MODELS, "pan,zzz", "model=zzz: there is no"),
        (MODELS, "Q*", "hint: there are det, pan, pan-small"),
        (MODELS, " , ", "there is no pipelines/ , /manifest.yaml"),
        (MODELS, "PAN", "model=PAN"),
        ([], "pan", "there are none yet: run `ascendflow init MODEL`"),
        ([], None, "there are none yet: run `ascendflow init MODEL`"),
    ],
)
def test_what_matches_nothing_is_refused(
    models: list[str], wanted: str | None, said: str
) -> None:
    with pytest.raises(InvalidDodoFile) as caught:
        select_models(models, wanted)

    assert said in str(caught.value)


def test_every_name_that_matches_nothing_is_told() -> None:
    with pytest.raises(InvalidDodoFile, match=r"(?s)model=aaa: .*model=bbb: "):
        select_models(MODELS, "aaa,pan,bbb")
