from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.contents import Contents, states_of
from ascendflow.cache.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return a folder with a file, a link and a folder."""
    folder = tmp_path / "here"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("one")
    (folder / "other").write_text("one")
    (folder / "link").symlink_to("other")
    return folder


def paths(here: Path) -> list[str]:
    return [str(here / name) for name in ("inner", "inner/file", "link")]


def test_the_same_contents_in_new_states_are_the_same(here: Path, tmp_path: Path) -> None:
    contents = Contents(str(tmp_path / "kept"), Index(tmp_path / "index"))
    states = states_of(paths(here))
    contents.note(states)
    for path in paths(here):
        os.utime(path, (1, 1))

    assert states_of(paths(here)) != states
    assert contents.lie_there(contents.of(states), paths(here))


def _swap(here: Path) -> None:
    (here / "inner" / "file").unlink()
    (here / "inner" / "file").symlink_to("../other")


def _turn(here: Path) -> None:
    (here / "third").write_text("one")
    (here / "link").unlink()
    (here / "link").symlink_to("third")


CHANGES: dict[str, Callable[[Path], object]] = {
    "another content": lambda here: (here / "inner" / "file").write_text("two"),
    "a file more": lambda here: (here / "inner" / "more").touch(),
    "a file gone": lambda here: (here / "inner" / "file").unlink(),
    "another name": lambda here: (here / "inner" / "file").rename(here / "inner" / "File"),
    "a link to the same content": _swap,
    "another file of the same content behind a link": _turn,
    "what a link leads to": lambda here: (here / "other").write_text("two"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_other_contents_are_not(
    here: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    contents = Contents(str(tmp_path / "kept"), Index(tmp_path / "index"))
    states = states_of(paths(here))
    contents.note(states)
    change(here)

    assert not contents.lie_there(contents.of(states), paths(here))


def test_what_changed_before_it_was_noted_is_not_noted(here: Path, tmp_path: Path) -> None:
    contents = Contents(str(tmp_path / "kept"), Index(tmp_path / "index"))
    states = states_of(paths(here))
    (here / "inner" / "file").write_text("three")
    contents.note(states)

    assert not (tmp_path / "kept").exists()
    assert not contents.lie_there(contents.of(states), paths(here))


def test_what_is_known_is_kept_by_its_new_states(here: Path, tmp_path: Path) -> None:
    contents = Contents(str(tmp_path / "kept"), Index(tmp_path / "index"))
    contents.note(states_of(paths(here)))
    known = contents.of(states_of(paths(here)))
    for path in paths(here):
        os.utime(path, (1, 1))
    moved = states_of(paths(here))
    contents.keep(moved, known)
    assert contents.of(moved) == known

    (here / "inner" / "file").write_text("two")
    contents.keep(moved, {})  # no longer in these states: what was kept stays
    assert contents.of(moved) == known
