"""`ascendflow doctor`: exit codes, forms, and a user's mistakes; on this very machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ascendflow import cli
from ascendflow.manifest import schema
from ascendflow.tasks.commands.doctor import Doctor
from tests.toolkits import NPU_SMI

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave those of the test's process alone."""
    monkeypatch.setattr("ascendflow.tasks.signals.install", lambda: None)


FAKE_PYTHON = """#!/bin/sh
echo 'ascendflow-doctor {answer}'
"""


def doctor(*arguments: str) -> int:
    code: int = Doctor().parse_execute(list(arguments))
    return code


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    """A CANN 8.1.RC1, as far as its files are looked at."""
    arch = os.uname().machine
    root = tmp_path / "cann"
    files = {
        f"{arch}-linux/ascend_toolkit_install.info": f"version=8.1.RC1\narch={arch}\n",
        "compiler/bin/atc": "#!/bin/sh\n",
        "set_env.sh": "export A=b\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "compiler/bin/atc").chmod(0o755)
    return root


def python(folder: Path, version: str, numpy: str) -> str:
    """Write a program that answers as a Python does."""
    answer: dict[str, Any] = {"python": version, "prefix": "/none"}
    answer |= {"machine": os.uname().machine, "packages": {"numpy": numpy}, "broken": ""}
    program = folder / "python3"
    program.write_text(FAKE_PYTHON.format(answer=json.dumps(answer)))
    program.chmod(0o755)
    return str(program)


def test_json_is_a_valid_document_and_the_emulator_works_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert doctor("--format", "json", "--backend", "emulator") == 0

    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(json.loads(schema.read("doctor"))).validate(document)
    assert document["own"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert document["ready"]["emulator"] is True


def test_without_cann_the_exit_code_is_0(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine without one, as tests run on."""
    from ascendflow.doctor import toolkit

    monkeypatch.setattr(toolkit, "FOLDERS", ())
    for variable in toolkit.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert doctor() == 0
    assert "The emulator works here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "numpy", "code"), [("3.10.12", "1.24.4", 0), ("3.13.1", "2.1.0", 2)]
)
def test_what_the_backend_needs_is_the_exit_code(  # noqa: PLR0917
    toolkit: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    version: str,
    numpy: str,
    code: int,
) -> None:
    path = python(tmp_path, version, numpy)

    assert doctor("--toolkit", str(toolkit), "--python", path) == code

    told = capsys.readouterr().out
    assert f"CANN        8.1.RC1 in {toolkit} (--toolkit)" in told
    assert ("FrameLocalsProxy" in told) == (code == 2)
    assert doctor("--toolkit", str(toolkit), "--python", path, "--backend=emulator") == 0


def test_a_python_that_hangs_is_told(
    toolkit: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ascendflow.doctor import machine

    path = python(tmp_path, "3.10.1", "1.24.4")
    (tmp_path / "python3").write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr(machine.run, "__defaults__", (0.5,))

    assert doctor("--toolkit", str(toolkit), "--python", path) == 2
    assert f"{path} did not end within 0.5 s" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_what_hangs_and_exits_with_130(
    tmp_path: Path, number: signal.Signals
) -> None:
    program, began = tmp_path / "python3", tmp_path / "began"
    program.write_text(
        f"#!/bin/sh\necho $$ > {began}.new\nmv {began}.new {began}\nsleep 600\n"
    )
    program.chmod(0o755)
    command = [sys.executable, "-m", "ascendflow.cli", "doctor", "--python", str(program)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while not began.exists() and process.poll() is None:
        time.sleep(0.05)

    process.send_signal(number)

    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in output
    deadline = time.monotonic() + 30  # killed, and then reaped by whoever inherits it
    while os.path.exists(f"/proc/{began.read_text().strip()}"):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--format", "yaml"], "--format: 'yaml' is not known"),
        (["--backend", "emulater"], "--backend: 'emulater' is not known"),
        (["--soc", "Ascend310P4"], "--soc: 'Ascend310P4' is not known"),
        (["--cann", "new"], "--cann: 'new' is no version"),
        (["model"], "takes no 'model'"),
        (["--gone"], "option --gone not recognized"),
    ],
)
def test_a_mistake_is_one_line_and_exits_with_3(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert doctor(*arguments) == 3

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"ERROR: doctor: {problem}")


def test_it_needs_no_dodo_and_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "dodo.py").write_text("raise SystemExit('read')")
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setattr("sys.argv", ["ascendflow", "doctor", "--toolkit", "gone"])

    assert cli.main() == 2
    assert (
        f"--toolkit is {tmp_path}/below/gone, which holds no CANN"
        in capsys.readouterr().out
    )


def test_npu_smi_is_run_and_its_chip_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(NPU_SMI, tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    told = []
    for chip in ("310P3", "none"):
        (tmp_path / "chip").write_text(chip)
        doctor("--format", "json", "--backend", "cann")
        told.append(json.loads(capsys.readouterr().out))

    assert [chip["name"] for chip in told[0]["driver"]["chips"]] == ["310P3"]
    assert "DrvMngGetConsoleLogLevel failed" in json.dumps(told[1])
