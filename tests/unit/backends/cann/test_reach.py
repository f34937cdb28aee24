"""A board is asked for before anything dear runs, over a real sshd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.backends.cann.reach import out_of_reach
from tests.sshd import running_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sshd import Sshd


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    with running_sshd(tmp_path / "ssh") as server:
        yield server


def options(sshd: Sshd, python: str, toolkit: str) -> dict[str, Any]:
    given = {"python": python, "toolkit": toolkit, "host": sshd.host}
    return {**given, "ssh_config": str(sshd.config)}


def test_what_is_not_on_the_board_is_told_and_no_value_is_a_command(
    sshd: Sshd, tmp_path: Path
) -> None:
    odd = tmp_path / f"o dd '\"; touch {tmp_path.name} $(touch x)"
    odd.mkdir()

    assert out_of_reach(options(sshd, "/bin/sh", str(odd))) is None
    assert out_of_reach(options(sshd, str(odd / "python3"), "/")) == (
        f"infer.python: {odd}/python3 is no program on {sshd.host}\n"
        "  hint: correct infer.python, or install it there before infer begins"
    )
    assert out_of_reach(options(sshd, "/bin/sh", "/bin/sh")) == (
        f"infer.toolkit: /bin/sh is no folder on {sshd.host}\n"
        "  hint: correct infer.toolkit, or install it there before infer begins"
    )
    assert [each.name for each in sshd.home.iterdir()] == []


def test_without_an_ssh_nothing_is_told_of_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing here is refused, once the verdict of an earlier build is gone."""
    monkeypatch.setenv("PATH", str(tmp_path))
    given = {"host": "root@no-ssh", "ssh_config": None, "python": "/p", "toolkit": "/t"}

    assert out_of_reach(given) is None


def test_board_that_does_not_answer_is_told_with_what_to_do(
    sshd: Sshd, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.write_text(f"Port 1\nInclude {sshd.config}\n")
    given = options(sshd, "/bin/sh", "/") | {"ssh_config": str(closed)}

    told = str(Cann().out_of_reach({"options": given}))

    assert told.startswith(f"infer: no connection to {sshd.host}: ssh: connect to host")
    assert "hint: try it by hand: ssh" in told
    assert Cann().out_of_reach({"options": given | {"host": None}}) is None
