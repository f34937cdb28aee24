"""A real sshd on this machine's loopback, for one test, with keys of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATED = Path("/run/sshd")
SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile {folder}/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv HOME={home}
"""
SFTP = "Subsystem sftp internal-sftp -d {home}\n"
CLIENT = """\
Host *
  Port {port}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""
FREE_PORT = """
import socket
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    print(found.getsockname()[1])
"""


@dataclass(frozen=True)
class Sshd:
    """A running server: whom to reach, how, and where its user is at home."""

    host: str
    config: Path
    home: Path
    log: Path
    process: int

    def cut(self) -> int:
        """Kill what serves the connections there are; return how many that were."""
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                after_name = stat.read_text().rpartition(")")[2].split()
                parents[int(stat.parent.name)] = int(after_name[1])
        found = [self.process]
        for parent in found:
            found += [child for child, its in parents.items() if its == parent]
        for child in found[1:]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return len(found) - 1


@contextmanager
def running_sshd(folder: Path, *, has_sftp: bool = True) -> Iterator[Sshd]:
    """Start a server; skip the test where there is none to start."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if sshd is None or not all(map(shutil.which, ("ssh", "sftp", "ssh-keygen"))):
        pytest.skip("no sshd, ssh or sftp: apt-get install openssh-server openssh-client")
    if os.geteuid() == 0:
        SEPARATED.mkdir(mode=0o755, exist_ok=True)  # as the package's own service does
    folder.mkdir()
    home = folder / "home"
    home.mkdir()
    for key in ("host_key", "user_key"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(made, check=True)
    said = subprocess.run(
        [sys.executable, "-c", FREE_PORT], check=True, capture_output=True, text=True
    )
    port = said.stdout.strip()
    public = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
    server_config = SERVER.format(port=port, folder=folder, home=home)
    if has_sftp:
        server_config += SFTP.format(home=home)
    (folder / "server").write_text(server_config)
    config = folder / "client"
    config.write_text(CLIENT.format(port=port, folder=folder))
    log = folder / "sshd.log"
    argv = [sshd, "-D", "-f", str(folder / "server"), "-E", str(log)]
    with subprocess.Popen(argv) as server:
        try:
            _wait(server, log)
            host = f"{getpass.getuser()}@127.0.0.1"
            yield Sshd(host, config, home, log, server.pid)
        finally:
            server.terminate()


def _wait(server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(1200):
        if log.exists() and "Server listening" in log.read_text():
            return
        if server.poll() is not None:
            break
        time.sleep(0.05)
    said = log.read_text() if log.exists() else ""
    pytest.skip(f"sshd does not run here: {said}")
