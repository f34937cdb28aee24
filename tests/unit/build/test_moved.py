"""What moves while a stage runs is noticed, whatever the clock and whatever is put back."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from ascendflow.build import moved
from ascendflow.build.moved import Moment
from ascendflow.errors import StageError
from ascendflow.reads.names import identity
from tests.workshops import make_outputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.workshops import Workshop

TWO_TICKS_S = 0.05
HOUR_NS = 3600 * 10**9


def _edit_and_put_back(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b"another one")
    time.sleep(TWO_TICKS_S)
    path.write_bytes(content)


def _swap_and_put_back(path: Path) -> None:
    aside = path.with_name("aside")
    path.rename(aside)
    path.write_bytes(b"another one")
    path.unlink()
    aside.rename(path)


def _swap_folder_and_put_back(path: Path) -> None:
    aside = path.parent.with_name("aside")
    path.parent.rename(aside)
    path.parent.mkdir()
    path.write_bytes(b"another one")
    path.unlink()
    path.parent.rmdir()
    aside.rename(path.parent)


def _during(workshop: Workshop, stage: str, act: Callable[[], object]) -> None:
    def make(out: Path) -> None:
        make_outputs(workshop.plan.stage(stage), out)
        time.sleep(TWO_TICKS_S)
        act()

    workshop.makes[stage] = make


@pytest.mark.parametrize(
    "move", [_edit_and_put_back, _swap_and_put_back, _swap_folder_and_put_back]
)
def test_input_that_was_another_one_for_a_while_is_refused(
    workshop: Workshop, move: Callable[[Path], None]
) -> None:
    workshop.bring_up("rewrite")
    time.sleep(TWO_TICKS_S)
    _during(workshop, "convert", lambda: move(workshop.path("rewrite/rewritten/content")))

    with pytest.raises(StageError, match="input rewritten changed while the stage ran"):
        workshop.bring_up("convert")
    assert workshop.judge("convert").record is None


def test_given_file_that_was_another_one_for_a_while_is_refused(workshop: Workshop) -> None:
    weights = workshop.folder / "weights"
    weights.write_bytes(b"weights")
    workshop.change("rewrite", files={"weights": "pipeline:weights"})
    _during(workshop, "rewrite", lambda: _swap_and_put_back(weights))

    with pytest.raises(StageError, match="input weights changed while the stage ran"):
        workshop.bring_up("rewrite")


def test_input_that_a_stage_links_is_the_same(workshop: Workshop, tmp_path: Path) -> None:
    """As stages do with weights, which may be large."""
    workshop.bring_up("rewrite")
    content = workshop.path("rewrite/rewritten/content")
    _during(workshop, "convert", lambda: os.link(content, tmp_path / "link"))

    assert workshop.bring_up("convert").how == "executed"


def _with_clock(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, *, set_back_ns: int
) -> None:
    """Let the clock be set back after the start; files keep the times they have."""
    workshop.reads = {"files": ["pipeline:data.py"], "folders": [], "missing": []}
    (workshop.folder / "data.py").write_text("1")
    time.sleep(TWO_TICKS_S)
    real = moved.moment
    monkeypatch.setattr(
        moved,
        "moment",
        lambda path: real(path)._replace(ctime_ns=real(path).ctime_ns - set_back_ns),
    )


def test_clock_that_is_set_back_meanwhile_means_that_nothing_is_recorded(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_clock(workshop, monkeypatch, set_back_ns=HOUR_NS)

    with pytest.raises(StageError, match=r"the clock was set back by 3(5\d\d|600)\.\d s"):
        workshop.bring_up("rewrite")
    assert workshop.judge("rewrite").record is None


@pytest.mark.parametrize("which", ["before", "after"])
def test_process_that_is_stopped_as_it_looks_at_the_clock_is_no_clock_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    """As on a busy machine: at the start and at the end, on either side of the stamp."""
    path = tmp_path / "spec.json"
    path.touch()
    utime = os.utime

    def stopped(stamped: Path) -> None:
        if which == "before":
            time.sleep(0.3)
        utime(stamped)
        if which == "after":
            time.sleep(0.3)

    started = moved.moment(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "utime", stopped)
        between = moved.moment(path)
    moved._refuse_clock("convert", started, between)
    moved._refuse_clock("convert", between, moved.moment(path))


def test_clock_that_is_set_forward_meanwhile_does_no_harm(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_clock(workshop, monkeypatch, set_back_ns=-HOUR_NS)

    assert workshop.bring_up("rewrite").how == "executed"


def test_file_from_before_the_clock_was_set_back_is_no_edit(tmp_path: Path) -> None:
    """Its ctime is yet to come; it would be refused until then."""
    path = tmp_path / "data.py"
    path.write_text("1")
    ctime_ns = path.stat().st_ctime_ns
    started = Moment(ctime_ns - HOUR_NS, 0, 0)
    ended = Moment(ctime_ns - HOUR_NS + 10**9, 10**9, 10**9)

    assert not moved._changed_between(path, started, ended)
    assert moved._changed_between(path, started, Moment(ctime_ns, HOUR_NS, HOUR_NS))


def _read_of(workshop: Workshop, path: Path, *, appeared: bool) -> None:
    """Let the stage say that Python read what is there now, and then do something."""
    name = f"pipeline:{path.relative_to(workshop.folder)}"
    workshop.reads = {"files": [name], "folders": [], "missing": []}
    workshop.states = {name: identity(path.stat())}
    workshop.appeared = [name] if appeared else []


def test_file_read_from_a_folder_that_another_one_took_the_place_of_is_refused(
    workshop: Workshop,
) -> None:
    """Nobody edited the file that is there now: its times are from long before."""
    for folder in ("labels", "others"):
        (workshop.folder / folder).mkdir()
        (workshop.folder / folder / "names").write_text(folder)
    time.sleep(TWO_TICKS_S)
    _read_of(workshop, workshop.folder / "labels/names", appeared=False)

    def swap() -> None:
        (workshop.folder / "labels").rename(workshop.folder / "aside")
        (workshop.folder / "others").rename(workshop.folder / "labels")

    _during(workshop, "rewrite", swap)

    with pytest.raises(StageError, match="pipeline:labels/names was edited while"):
        workshop.bring_up("rewrite")
    assert workshop.judge("rewrite").record is None


@pytest.mark.parametrize("edits", [False, True])
def test_file_that_another_made_meanwhile_is_an_input_unless_it_was_edited_since_read(
    workshop: Workshop, *, edits: bool
) -> None:
    path = workshop.folder / "labels"

    def appear() -> None:
        path.write_text("1")
        _read_of(workshop, path, appeared=True)
        time.sleep(TWO_TICKS_S)
        if edits:
            path.write_text("2")

    _during(workshop, "rewrite", appear)
    if edits:
        with pytest.raises(StageError, match="pipeline:labels was edited while"):
            workshop.bring_up("rewrite")
        return
    workshop.bring_up("rewrite")
    path.write_text("3")
    (reason,) = workshop.judge("rewrite").reasons

    assert "pipeline:labels, which it read, changed" in str(reason)
