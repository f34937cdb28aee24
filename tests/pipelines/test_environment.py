"""What a stage gets from outside: few variables, and no network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

MANIFEST = "pipelines/toy/manifest.yaml"
SHOW = ("import json, os", "print(json.dumps(dict(os.environ)))")


def _environment(checkout: Checkout, stage: str) -> dict[str, str]:
    lines = checkout.path(f"build/toy/{stage}/log.txt").read_text().splitlines()
    shown: dict[str, str] = json.loads(next(line for line in lines if line[0] == "{"))
    return shown


def test_only_listed_variables_reach_a_stage(checkout: Checkout) -> None:
    checkout.inject("convert", *SHOW)
    run = checkout.doit(
        "convert:toy",
        PRIVATE="x",
        OMP_NUM_THREADS="7",
        PYTHONHASHSEED="5",
        HTTP_PROXY="http://proxy",
        LC_TIME="C",
        LANG="C.UTF-8",
    )
    seen = _environment(checkout, "convert")
    threads = {name: n for name, n in seen.items() if name.endswith("_THREADS")}

    assert run.executed == ["convert"]
    assert not {"PRIVATE", "HTTP_PROXY"} & seen.keys()
    assert (seen["LANG"], seen["LC_TIME"]) == ("C.UTF-8", "C")
    assert seen["PYTHONHASHSEED"] == "0"
    assert threads["OMP_NUM_THREADS"] == "1"
    assert set(threads.values()) == {"1"}


def test_manifest_sets_variables_and_thread_counts_and_both_are_in_the_key(
    checkout: Checkout,
) -> None:
    checkout.inject("infer", *SHOW)
    checkout.inject("gate", *SHOW)
    checkout.edit(
        MANIFEST, "gate:", "infer: {threads: 3}\nenvironment: {LEVEL: high}\ngate:"
    )
    checkout.doit()
    infer, gate = (_environment(checkout, stage) for stage in ("infer", "gate"))

    assert (infer["LEVEL"], infer["OMP_NUM_THREADS"]) == ("high", "3")
    assert gate["OMP_NUM_THREADS"] == "1"
    assert checkout.record("infer")["fingerprint"]["environment"] == {
        "LEVEL": "high",
        "OMP_NUM_THREADS": "3",
    }


def test_variables_of_the_shell_are_in_no_key(checkout: Checkout) -> None:
    run = checkout.doit(PRIVATE="x", OMP_NUM_THREADS="7", LANG="C", PYTHONHASHSEED="5")

    assert (run.executed, run.restored) == ([], [])


@pytest.mark.slow
def test_run_with_network_blocked_passes(fresh: Checkout, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    attempts = tmp_path / "attempts"
    (tmp_path / "site" / "sitecustomize.py").write_text(
        NO_NETWORK.format(path=str(attempts))
    )
    # The child's environment is ours to choose, so the manifest hands the block on.
    path = f"{fresh.folder}:{tmp_path / 'site'}"
    fresh.edit(MANIFEST, "gate:", f"environment: {{PYTHONPATH: {path!r}}}\ngate:")
    run = fresh.doit(PYTHONPATH=path)
    is_attempted = attempts.exists()
    fresh.inject("gate", "import socket", "socket.create_connection(('127.0.0.1', 9))")
    reached = fresh.doit(PYTHONPATH=path)

    assert (run.code, run.executed) == (0, ALL)
    assert not is_attempted
    assert reached.code == 2
    assert "socket" in attempts.read_text()


NO_NETWORK = """\
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        if event == "socket.getaddrinfo" or arguments[0].family.name != "AF_UNIX":
            open({path!r}, "a").write(event)
            raise OSError("the network is blocked")

sys.addaudithook(refuse)
"""
