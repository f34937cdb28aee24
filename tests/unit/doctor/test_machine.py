from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from ascendflow import process
from ascendflow.doctor import machine
from ascendflow.doctor.machine import free_bytes, run, this_machine

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts import Host

CLEAN = {"PATH": "/usr/bin:/bin"}


def script(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_program_gets_the_environment_it_is_given_and_no_other(tmp_path: Path) -> None:
    program = script(tmp_path, "#!/bin/sh\nenv\necho told >&2\nls -A; echo $#: $1\n")

    ran = run([program, "a b; touch /tmp/x $(id)"], {**CLEAN, "ONLY": "this"})

    assert ran.problem is None
    assert "ONLY=this" in ran.output.splitlines()
    assert "told" in ran.output.splitlines()
    assert ran.output.splitlines()[-1] == "1: a b; touch /tmp/x $(id)"
    assert "HOME=" not in ran.output


def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    text = f"#!/bin/sh\necho begins\n: >{begun}\nsleep 600 & sleep 600\n"
    program = script(tmp_path, text)
    monkeypatch.setattr(process._Child, "elapsed_s", lambda _: float(begun.exists()))

    ran = run([program], CLEAN, timeout_s=0.5)

    assert ran.problem == "did not end within 0.5 s"
    assert ran.output == "begins\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("#!/bin/sh\nexit 7\n", "exited with status 7", id="status"),
        pytest.param("#!/bin/sh\nkill -9 $$\n", "was killed by SIGKILL", id="killed"),
        pytest.param(
            "\x7fELF garbage", "cannot be run: Exec format error", id="no-program"
        ),
    ],
)
def test_a_program_that_fails_says_how(tmp_path: Path, text: str, problem: str) -> None:
    assert str(run([script(tmp_path, text)], CLEAN).problem).startswith(problem)


def test_a_program_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    assert (
        run([str(tmp_path / "gone")], CLEAN).problem == f"{tmp_path}/gone: no such program"
    )


def test_without_a_folder_for_temporary_files_nothing_is_run_but_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = script(tmp_path, "#!/bin/sh\n")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert run([program], CLEAN).problem == "cannot be run: No such file or directory"

    def refuse() -> str:
        raise FileNotFoundError

    monkeypatch.setattr("tempfile.gettempdir", refuse)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    assert this_machine({}).temporary == str(tmp_path / "gone")


def test_of_much_output_the_beginning_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LARGEST", 10)

    assert (
        run([script(tmp_path, "#!/bin/sh\nseq 1 1000\n")], CLEAN).output
        == "1\n2\n3\n4\n5\n"
    )


def test_a_clean_environment_has_nothing_of_ours(host: Host) -> None:
    host.environment |= {"PYTHONPATH": "/ours", "VIRTUAL_ENV": "/ours", "LD_PRELOAD": "x"}
    host.program("/usr/bin/tool", "fine")

    host.machine().ask(["/usr/bin/tool", "info"], MORE="1")

    ((argv, environment),) = host.ran
    assert argv == [str(host.root / "usr/bin/tool"), "info"]
    assert environment.keys() == {"PATH", "HOME", "LC_ALL", "MORE"}
    assert environment["PATH"].split(":")[0] == "/usr/local/sbin"


def test_what_is_no_readable_file_reads_as_nothing(host: Host) -> None:
    os.mkfifo(host.root / "pipe")  # would block whoever opens it to read
    (host.root / "folder").mkdir()
    (host.root / "round").symlink_to("round")

    at = host.machine()
    for path in ("/pipe", "/folder", "/round", "/gone", "/usr/bin/python3/below"):
        assert at.read(path) is None
        assert at.entries(path) == {}
        assert not at.is_file(path)
        assert not at.is_program(path)
    assert at.names("/gone") == []


def test_bytes_that_are_no_text_are_read(host: Host) -> None:
    host.write("/x", b"a = 1 \n\xff\xfe\0=2\nno pair\n")

    assert host.machine().entries("/x") == {"a": "1", "\ufffd\ufffd\0": "2"}


def test_relative_folders_of_path_are_left_out(host: Host) -> None:
    host.environment["PATH"] = ":.:bin:/usr/bin/:/bin"

    assert host.machine().path() == ["/usr/bin", "/bin"]


def test_a_path_of_the_command_line_is_from_the_folder_it_was_called_in(host: Host) -> None:
    assert host.machine().absolute("../cann") == "/users/ann/cann"
    assert host.machine().absolute("/usr/local") == "/usr/local"


def test_this_machine_is_that_of_the_system(tmp_path: Path) -> None:
    here = this_machine({"numpy": "2.4.0"})

    assert here.python == sys.version_info[:3]
    assert here.is_program(sys.executable)
    assert here.folder == os.getcwd()
    assert here.at("/usr") == here.root / "usr"
    assert (free_bytes(tmp_path) or 0) > 0
    assert free_bytes(tmp_path / "gone") is None
