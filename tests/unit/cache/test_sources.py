from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.sources import SETTLED_NS, Sources

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

YEAR_NS = 365 * 86400 * 10**9


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in ("package/__init__.py", "package/a.py", "package/inner/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("A = 1\n")
    time.sleep(0.05)  # two ticks of the file system's clock, so that a change has another
    return tmp_path / "package"


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files be settled, which were written a moment ago."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 2 * SETTLED_NS)


class Asked:
    """Counts how often a digest had to be made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return f"made {self.times}"


def sources(package: Path) -> Sources:
    return Sources(str(package), package.parent / "state" / "digests.json")


def test_all_python_files_are_listed_and_nothing_else(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "c.py").write_text("")
    (package / "page.j2").write_text("")

    assert sources(package).files == ["__init__.py", "a.py", "inner/b.py"]


@pytest.mark.usefixtures("later")
def test_a_digest_is_made_once_while_no_file_changes(package: Path) -> None:
    make = Asked()

    assert [sources(package).digest("x", make) for _ in range(3)] == ["made 1"] * 3
    assert sources(package).digest("y", make) == "made 2"
    assert sources(package).digest("x", make) == "made 1"


def python_files(package: Path) -> set[str]:
    return {str(path) for path in package.rglob("*.py")}


def edit(package: Path) -> None:
    before = (package / "a.py").stat()
    (package / "a.py").write_text("A = 2\n")
    os.utime(package / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = pytest.mark.parametrize(
    "change",
    [
        pytest.param(edit, id="edited, with size and mtime put back"),
        pytest.param(lambda p: (p / "inner" / "b.py").touch(), id="touched"),
        pytest.param(lambda p: (p / "inner" / "new.py").write_text(""), id="added"),
        pytest.param(lambda p: (p / "a.py").unlink(), id="removed"),
        pytest.param(lambda p: (p / "a.py").rename(p / "z.py"), id="renamed"),
    ],
)


@CHANGES
def test_a_change_since_is_seen(package: Path, change: Callable[[Path], object]) -> None:
    before = sources(package)
    assert before.are_as_they_were(python_files(package))
    change(package)

    assert not before.are_as_they_were(python_files(package) | {f"{package}/a.py"})


def test_a_package_that_takes_a_modules_place_is_a_change(package: Path) -> None:
    before, a = sources(package), {f"{package}/a.py"}
    (package / "a").mkdir()
    assert before.are_as_they_were(a)  # a folder that is no package takes no place
    (package / "a" / "__init__.py").write_text("A = 1\n")

    assert not before.are_as_they_were(a)


def test_a_change_of_other_files_is_none(package: Path) -> None:
    before = sources(package)
    (package / "a.py").unlink()
    (package / "b.py").touch()

    assert before.are_as_they_were({f"{package}/inner/b.py"})


@pytest.mark.usefixtures("later")
@CHANGES
def test_a_changed_file_makes_every_digest_anew(
    package: Path, change: Callable[[Path], object]
) -> None:
    make = Asked()
    sources(package).digest("x", make)
    change(package)

    assert sources(package).digest("x", make) == "made 2"
    assert sources(package).digest("x", make) == "made 2"


def test_what_was_made_of_files_that_changed_a_moment_ago_is_not_kept(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = (package / "__init__.py").stat().st_ctime_ns + SETTLED_NS
    monkeypatch.setattr(time, "time_ns", lambda: settled)
    make = Asked()
    first = sources(package)

    assert [first.digest("x", make), first.digest("x", make)] == ["made 1"] * 2
    assert sources(package).digest("x", make) == "made 2"


def test_files_from_the_future_are_never_trusted(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() - YEAR_NS)
    make = Asked()
    sources(package).digest("x", make)

    assert sources(package).digest("x", make) == "made 2"


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("text", ["", "[]", "{", '{"state": 1}', '{"digests": {"x": "y"}}'])
def test_a_damaged_file_counts_as_empty(package: Path, text: str) -> None:
    make = Asked()
    sources(package).digest("x", make)
    (package.parent / "state" / "digests.json").write_text(text)

    assert sources(package).digest("x", make) == "made 2"


@pytest.mark.usefixtures("later")
def test_a_file_that_cannot_be_written_only_forgets(package: Path) -> None:
    (package.parent / "state").write_text("in the way")

    assert sources(package).digest("x", Asked()) == "made 1"
