"""Names of reads are the same in every checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendflow.reads.names import PACKAGE, Places

PLACES = Places(
    folder=Path("/r/pipelines/pan"),
    repository=Path("/r"),
    roots={"data": Path("/d"), "faces": Path("/d/faces"), "inside": Path("/r/sets")},
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param("/r/pipelines/pan/model.py", "pipeline:model.py", id="pipeline-first"),
        pytest.param("/r/pipelines/pan", "pipeline:.", id="the-folder-itself"),
        pytest.param(
            "/r/pipelines/panda/x", "repository:pipelines/panda/x", id="same-start"
        ),
        pytest.param("/r/sets/x", "repository:sets/x", id="repository-before-root"),
        pytest.param("/d/a/x", "data:a/x", id="root"),
        pytest.param("/d/faces/x", "faces:x", id="inner-root-first"),
        pytest.param(f"{PACKAGE}/a/b.j2", "ascendflow:a/b.j2", id="ascendflow"),
    ],
)
def test_a_path_in_a_place_has_a_name_that_leads_back(path: str, name: str) -> None:
    assert PLACES.name(path) == name
    assert PLACES.resolve(name) == Path(path)


@pytest.mark.parametrize("path", ["/elsewhere/x", "/rr/x", "/"])
def test_a_path_in_no_place_has_no_name(path: str) -> None:
    assert PLACES.name(path) is None


@pytest.mark.parametrize("folder", ["/r/pipelines/pan", "/r/pipelines/pan/v1", "/d/faces"])
def test_what_lies_beside_the_source_is_named_by_it(folder: str) -> None:
    """GR25."""
    places = PLACES._replace(beside=Path(folder))

    assert places.name(f"{folder}/deep/w.bin") == "source folder:deep/w.bin"
    assert places.resolve("source folder:deep/w.bin") == Path(folder, "deep/w.bin")
    assert places.name(f"{folder}2/w.bin") != "source folder:w.bin"


def test_what_lies_beside_a_source_that_is_none_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        PLACES.resolve("source folder:w.bin")


def test_a_root_that_is_no_longer_declared_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        PLACES.resolve("gone:x")
