"""OpenSSH's own client, as child processes: a constant command there, and files over sftp.

What a command is to work on goes in by its standard input, a value a line, so that no
shell ever reads a name from a manifest. Which key, port and known hosts to use is for
ssh's own configuration to say.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.errors import StageError, ToolFailedError, ToolNotFoundError
from ascendflow.process import Limits, run_child, tail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ascendflow.process import ExitStatus

OPTIONS = (
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=20"),
    *("-o", "ServerAliveInterval=15"),
    *("-o", "ServerAliveCountMax=4"),
    *("-o", "ClearAllForwardings=yes"),
)
"""Nothing is asked for; a board that does not answer for a minute is gone."""

KEPT = ("PATH", "HOME", "USER", "LANG", "SSH_AUTH_SOCK", "TMPDIR")
CLIENT, INSTALL = ("ssh", "sftp"), "apt install openssh-client"
LOST = (255, -signal.SIGPIPE)
"""The status of ssh where it is the connection that failed; and of an sftp that writes to
an ssh which is gone."""

HINTS = (
    ("Permission denied (", "ssh has no key for it: ssh-copy-id, or IdentityFile"),
    ("Host key verification failed", "connect by hand once, and look at the key"),
    ("Could not resolve", "see infer.host"),
    ("ubsystem request failed", "its sshd has no sftp: install openssh-sftp-server there"),
    ("message too long", "its login script prints something, which sftp cannot read"),
)
ECHO = "sftp> "
ELSE = "try it by hand: ssh -o BatchMode=yes"


@dataclass(frozen=True)
class Ssh:
    """A host, and how it is reached.

    Attributes:
        host: `user@host`, held to a pattern when the manifest was loaded.
        config: a configuration in place of the user's, or None.
        folder: where transfers start on this side.
        logs: a folder for what ssh says.
    """

    host: str
    config: str | None
    folder: Path
    logs: Path

    def run(
        self,
        command: str,
        values: Sequence[str],
        *,
        held: bool = False,
        timeout_s: float | None = 300,
        on_heartbeat: Callable[[float], None] | None = None,
    ) -> ExitStatus:
        """Run a command there, and give it values by its standard input.

        Args:
            command: a constant.
            values: a line each.
            held: keep its input open until it ends, and write to it every few seconds,
                so that it sees if we are gone, or the way to us.
            timeout_s: seconds, or None.
            on_heartbeat: called every few seconds.

        Raises:
            ToolFailedError: it took too long, or there is no connection.
        """
        text = "".join(f"{value}\n" for value in values)
        if any("\n" in value or "\0" in value for value in values) or len(text) > 4096:
            raise StageError(f"{self.host}: {values} cannot be told to a command")
        reads, writes = os.pipe()
        try:
            os.write(writes, text.encode())  # fits into the pipe
            if not held:
                os.close(writes)
            argv = ["ssh", "-T", *self._options(), "--", self.host, command]

            def beat(elapsed_s: float) -> None:
                if held:
                    os.write(writes, b"\n")
                if on_heartbeat is not None:
                    on_heartbeat(elapsed_s)

            return self._child(argv, reads, timeout_s, beat)
        finally:
            os.close(reads)
            if held:
                os.close(writes)

    def sftp(self, lines: Sequence[str]) -> ExitStatus:
        """Move files. A line that begins with `-` may fail.

        Raises:
            ToolFailedError: there is no connection.
        """
        batch = self.logs / "batch"
        batch.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        argv = ["sftp", "-o", "LogLevel=ERROR", "-b", str(batch), *self._options()]
        argv += ["--", self.host]
        return self._child(argv, None, None, None)

    def said(self, lines: int = 5) -> str:
        """Return the end of what the last call said, without sftp's echo of its lines."""
        said = tail(self.logs / "ssh.log", 10 * lines).splitlines()
        told = [line for line in said if not line.startswith(ECHO)]
        return "\n".join(told[-lines:])

    def _options(self) -> list[str]:
        return [*OPTIONS, *(() if self.config is None else ("-F", self.config))]

    def _child(
        self,
        argv: Sequence[str],
        stdin: int | None,
        timeout_s: float | None,
        on_heartbeat: Callable[[float], None] | None,
    ) -> ExitStatus:
        try:
            status = run_child(
                argv,
                cwd=self.folder,
                environment={name: os.environ[name] for name in KEPT if name in os.environ},
                log=self.logs / "ssh.log",
                limits=Limits(timeout_s=timeout_s),
                on_heartbeat=on_heartbeat,
                **({} if stdin is None else {"stdin": stdin}),
            )
        except ToolNotFoundError as error:
            raise ToolNotFoundError(f"infer.host needs {argv[0]}", hint=INSTALL) from error
        if status.reason == "timeout":
            text = f"infer: {self.host} has not answered within {status.wall_s:.0f} s"
            raise ToolFailedError(text, hint=f"{ELSE} {self.host}")
        if status.returncode in LOST:
            raise LostError(self.host, self.said())
        return status


class LostError(ToolFailedError):
    """There is no connection, or it broke."""

    def __init__(self, host: str, said: str) -> None:
        hint = next((hint for text, hint in HINTS if text in said), f"{ELSE} {host}")
        why = said or "it broke"
        super().__init__(f"infer: no connection to {host}: {why}", hint=hint)
