"""OpenSSH's own client, against its own server: how a call ends, and what is told of it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.ssh import LostError, Ssh
from ascendflow.errors import ToolFailedError
from tests.sshd import Sshd, running_sshd

if TYPE_CHECKING:
    from pathlib import Path


def client(tmp_path: Path, server: Sshd, config: str | None = None) -> Ssh:
    for each in ("work", "logs"):
        (tmp_path / each).mkdir(exist_ok=True)
    return Ssh(
        server.host, config or str(server.config), tmp_path / "work", tmp_path / "logs"
    )


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("root@b: Permission denied (publickey).", "ssh-copy-id"),
        ("Host key verification failed.", "connect by hand once"),
        ("ssh: Could not resolve hostname b: Name or service not known", "infer.host"),
        ("subsystem request failed on channel 0", "openssh-sftp-server"),
        ("Received message too long 1298752370", "login script"),
        ("connect to host b port 22: Connection refused", "ssh -o BatchMode=yes root@b"),
        ("", "ssh -o BatchMode=yes root@b"),
    ],
)
def test_each_way_to_be_lost_has_its_next_step(said: str, hint: str) -> None:
    error = LostError("root@b", said)
    assert hint in str(error.hint)
    assert error.message.endswith(said or "it broke")


def test_values_are_lines_of_its_input_and_status_is_its_own(tmp_path: Path) -> None:
    with running_sshd(tmp_path / "ssh") as server:
        ssh = client(tmp_path, server)
        told = ssh.run(
            'IFS= read -r a && IFS= read -r b && echo "$b|$a"; exit 7', ["x", "$y"]
        )
        assert (told.returncode, ssh.said()) == (7, "$y|x")
        with pytest.raises(ToolFailedError, match=r"has not answered within \d s"):
            ssh.run("sleep 60", [], timeout_s=1)


def test_held_command_hears_from_us_and_sees_us_go(tmp_path: Path) -> None:
    with running_sshd(tmp_path / "ssh") as server:
        beats: list[float] = []
        ssh = client(tmp_path, server)
        # dash reads the value, and head what comes every five seconds.
        done = ssh.run(
            "read a; head -c 1 | wc -c", ["x"], held=True, on_heartbeat=beats.append
        )
        assert (done.returncode, ssh.said()) == (0, "1")
        assert beats


def test_sftp_without_a_server_of_it_and_without_an_echo(tmp_path: Path) -> None:
    with running_sshd(tmp_path / "ssh", has_sftp=False) as server:
        with pytest.raises(LostError) as raised:
            client(tmp_path, server).sftp(["put a a"])
        assert "openssh-sftp-server" in str(raised.value.hint)
    with running_sshd(tmp_path / "ssh2") as server:
        ssh = client(tmp_path, server)
        assert ssh.sftp(["-rm none", "put none none"]).returncode == 1
        assert "sftp>" not in ssh.said()
        assert "none" in ssh.said()


def test_sftp_whose_ssh_is_gone_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_sshd(tmp_path / "ssh") as server:
        ssh = client(tmp_path, server)
        (tmp_path / "bin").mkdir()
        dying = tmp_path / "bin" / "sftp"
        dying.write_text(f"#!/bin/sh\nkill -{signal.SIGPIPE.value} $$\n")
        dying.chmod(0o755)
        monkeypatch.setenv("PATH", str(dying.parent), prepend=":")
        with pytest.raises(LostError, match="it broke"):
            ssh.sftp(["put a a"])
