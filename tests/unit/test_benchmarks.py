"""What a benchmark may say: nothing that was not measured holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__, compare, dump, peers, plain
from benchmarks.child import Ran, run
from benchmarks.peers import PeerError, not_measured, peer
from benchmarks.row import Row, table
from tests.checkouts import Checkout


def test_a_value_at_its_limit_holds_and_one_beyond_or_nan_does_not() -> None:
    assert Row("a", 2.0, 2, "x", "").holds
    assert not Row("a", 2.01, 2, "x", "").holds
    assert not Row("a", float("nan"), 2, "x", "").holds


def test_a_peer_that_cannot_be_installed_is_not_measured_and_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone.txt").write_text("no-such-package==1\n")
    monkeypatch.setattr(peers, "PINS", tmp_path)
    monkeypatch.setattr(peers, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(PeerError, match="gone cannot be installed") as raised:
        peer("gone")
    row = not_measured("ours / gone", 2, "x", raised.value)
    assert not row.holds
    assert "NO" in table([row])
    assert "not measured: gone cannot be installed" in row.detail


def test_an_interrupted_install_is_done_again_and_a_complete_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def pretend(_: str, command: list[str]) -> None:
        calls.append(command)
        if "venv" in command:
            (tmp_path / "kept").mkdir(exist_ok=True)
            home = Path(command[-1])
            home.mkdir()
        elif len(calls) == 2:
            raise PeerError("interrupted")

    (tmp_path / "tool.txt").write_text("tool==1\n")
    monkeypatch.setattr(peers, "PINS", tmp_path)
    monkeypatch.setattr(peers, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(peers, "_run", pretend)
    with pytest.raises(PeerError, match="interrupted"):
        peer("tool")
    first = peer("tool")
    again = peer("tool")

    assert len(calls) == 4  # environment and pip, twice
    assert first == again
    (tmp_path / "tool.txt").write_text("tool==2\n")
    assert peer("tool") != first


def test_a_child_that_fails_is_an_error_with_its_output() -> None:
    with pytest.raises(RuntimeError, match="exit 3\nwhy"):
        run([sys.executable, "-c", "print('why'); raise SystemExit(3)"])


PEAKS = """
import json, sys
from benchmarks.child import run
small = run([sys.executable, "-c", "print('{}')"])
large = run([sys.executable, "-c", "x = b'1' * 200_000_000; print('{\\"a\\": 1}')"])
print(json.dumps({"grown": large.peak_mb - small.peak_mb, "said": large.said}))
"""


def test_a_childs_peak_is_measured_and_its_last_line_is_read() -> None:
    # The test's own process may be larger than both, and the kernel would count it.
    said = run([sys.executable, "-c", PEAKS]).said

    assert said["said"] == {"a": 1}
    assert 150 < said["grown"] < 250


def test_each_part_is_measured_in_a_process_of_its_own() -> None:
    """What one part had in memory would count in the peaks of all that come later."""
    assert __main__._alone(own_process) == [str(os.getpid())]


def own_process() -> list[str]:
    return [str(os.getppid())]


def test_each_part_is_found_by_the_process_that_measures_it() -> None:
    """What stands in the module that `-m` runs is not found there."""
    name = __main__.__name__
    assert [part for part in __main__.PARTS if part.measure.__module__ == name] == []


def test_ratios_are_of_medians_and_different_results_do_not_hold() -> None:
    def runs(*seconds: float, digest: str = "same") -> list[Ran]:
        said = {"bytes": 1e9, "pairs": 1, "sha256": digest}
        return [Ran(9.0, 50.0, {**said, "seconds": one}) for one in seconds]

    row = compare._ratio("one thread", runs(1, 2, 9), runs(4, 4, 5), 0.5)
    assert row.value == 0.5
    assert compare._same(runs(1), runs(1)).holds
    assert not compare._same(runs(1), runs(1, digest="other")).holds


def test_dump_without_polygraphy_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise PeerError(f"{name} is not there")

    monkeypatch.setattr(dump, "peer", missing)
    monkeypatch.setattr(dump, "ROUNDS", 0)
    monkeypatch.setattr("benchmarks.child.work", lambda *_: Ran(0, 0, {"nodes": 0}))
    rows = dump.measure()

    assert len(rows) == 2
    assert not any(row.holds for row in rows)


@pytest.mark.slow
def test_plain_doit_has_a_task_for_each_stage_of_a_built_model(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout", ("toy",))
    built = checkout.doit()
    assert built.code == 0, built.text
    tasks = plain.write(checkout.path("build"), "toy", tmp_path)
    argv = [sys.executable, "-m", "doit"]
    said = subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, text=True)

    assert tasks == len(built.executed) + 1  # and the verdict
    assert said.stdout.count("stage:") == tasks
