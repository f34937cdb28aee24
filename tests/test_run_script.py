"""`./run`, on a copy of the checkout, with a stub Python that logs how it was called."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

TOOLS = ("sh", "cmp", "rm", "mkdir", "cp", "mv", "sed", "kill", "touch", "sleep")
LOCK = "dummy==1.0\nheavy==2.0  # torch\n"
STUB = """#!/bin/sh
echo "$*" >>"{folder}/log"
case "$*" in
*'import ensurepip'*) [ ! -e "{folder}/no-ensurepip" ] ;;
*'import fcntl'*) exec "{python}" "$@" ;;
*'import sys; print'*) echo "{version}" ;;
*'-m venv'*) mkdir -p "$4/bin"; cp "$0" "$4/bin/python" ;;
*'pip '*' -r '*)
    while [ -e "{folder}/hold" ]; do touch "{folder}/held"; sleep 0.02; done
    [ ! -e "{folder}/kill" ] || {{ rm "{folder}/kill"; kill -9 $PPID; }}
    [ ! -e "{folder}/fail" ] || {{ echo "ERROR: no such wheel" >&2; exit 1; }} ;;
esac
"""


class Checkout:
    """A copy of the checkout with a PATH that holds one stub Python and few tools."""

    def __init__(self, folder: Path, script: Path) -> None:
        self.folder = folder
        self.root = folder / "check out"
        self.root.mkdir()
        shutil.copy(script, self.root / "run")
        (self.root / "requirements.lock").write_text(LOCK)
        (self.root / "pyproject.toml").write_text("[project]\n")
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.environment = {"PATH": str(self.bin), "HOME": str(folder)}
        self.add_python("python3.11", "3.11")

    def add_python(self, name: str, version: str) -> None:
        text = STUB.format(folder=self.folder, python=sys.executable, version=version)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "run", *command],
            env=self.environment | variables,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *command: str, **variables: str) -> tuple[int, str, str]:
        process = self.start(*command, **variables)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def calls(self) -> list[str]:
        """Return how Python was called since the last time this was asked."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if "-m " in line]

    def asked_for(self) -> str:
        """Return the requirements that the last install was given."""
        return (self.root / ".venv/requirements.txt").read_text()


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Checkout:
    return Checkout(tmp_path, repository / "run")


def test_first_call_installs_the_lock_then_the_checkout_then_runs_the_command(
    checkout: Checkout,
) -> None:
    status, out, err = checkout.run("sh", "-c", 'echo "$1"; exit 7', "-", "two  words")

    assert (status, out) == (7, "two  words\n")
    assert "making .venv with python3.11 (torch)" in err
    venv, packages, editable = checkout.calls()
    assert venv.startswith("-I -m venv ")
    assert packages.endswith(f"install -q -r {checkout.root}/.venv/requirements.txt")
    assert editable.endswith(f"--no-deps --no-build-isolation -e {checkout.root}")
    assert checkout.asked_for() == LOCK


def test_later_call_is_silent_and_starts_no_python(checkout: Checkout) -> None:
    checkout.run("true")
    (checkout.folder / "log").unlink()

    assert checkout.run("sh", "-c", "exit 0") == (0, "", "")
    assert not (checkout.folder / "log").exists()


def test_interrupted_install_is_redone_from_nothing(checkout: Checkout) -> None:
    (checkout.folder / "kill").touch()
    status, _, _ = checkout.run("true")
    assert status == -9
    half_made = checkout.root / ".venv/half-copied-package"
    half_made.touch()
    checkout.calls()

    status, _, _ = checkout.run("sh", "-c", "exit 0")

    assert status == 0
    assert len(checkout.calls()) == 3
    assert not half_made.exists()


def test_failed_pip_shows_its_error_and_the_next_call_starts_again(
    checkout: Checkout,
) -> None:
    (checkout.folder / "fail").touch()
    status, out, err = checkout.run("sh", "-c", "echo ran")
    assert (status, out) == (3, "")
    assert "ERROR: no such wheel\nrun: pip failed" in err

    (checkout.folder / "fail").unlink()
    assert checkout.run("sh", "-c", "echo ran")[:2] == (0, "ran\n")


def test_two_first_calls_at_once_install_once(checkout: Checkout) -> None:
    hold = checkout.folder / "hold"
    hold.touch()
    first = checkout.start("sh", "-c", "echo first")
    _wait_for(checkout.folder / "held")
    second = checkout.start("sh", "-c", "echo second")
    assert second.stderr is not None
    assert second.stderr.readline() == "run: waiting for another ./run to make .venv\n"

    hold.unlink()

    assert first.communicate(timeout=60)[0] == "first\n"
    assert second.communicate(timeout=60)[0] == "second\n"
    assert len(checkout.calls()) == 3


def test_an_interrupt_while_it_waits_shows_no_traceback(checkout: Checkout) -> None:
    hold = checkout.folder / "hold"
    hold.touch()
    first = checkout.start("sh", "-c", "echo first")
    _wait_for(checkout.folder / "held")
    second = checkout.start("sh", "-c", "echo second")
    assert second.stderr is not None
    second.stderr.readline()
    (child,) = Path(f"/proc/{second.pid}/task/{second.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGINT)

    assert second.communicate(timeout=60) == ("", "")
    assert second.returncode == 128 + signal.SIGINT
    hold.unlink()
    assert first.communicate(timeout=60)[0] == "first\n"


def _wait_for(path: Path) -> None:
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.01)
    pytest.fail(f"{path.name} did not appear")


def test_running_command_does_not_keep_the_install_lock(checkout: Checkout) -> None:
    take = (
        "import fcntl, sys; fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )

    status, _, err = checkout.run(sys.executable, "-c", take, f"{checkout.root}/.venv.lock")

    assert status == 0, err


def test_torch_is_left_out_on_request_and_put_in_afterwards(checkout: Checkout) -> None:
    checkout.run("true", ASCENDFLOW_NO_TORCH="1")
    assert checkout.asked_for() == "dummy==1.0\n"
    checkout.calls()

    checkout.run("true", ASCENDFLOW_NO_TORCH="1")
    assert checkout.calls() == []

    checkout.run("true")
    assert checkout.asked_for() == LOCK


def test_changed_pyproject_installs_only_the_checkout_again(checkout: Checkout) -> None:
    checkout.run("true")
    checkout.calls()
    (checkout.root / "pyproject.toml").write_text("[project]\nname = 'x'\n")

    checkout.run("true")

    (editable,) = checkout.calls()
    assert " -e " in editable
    checkout.run("true")
    assert checkout.calls() == []


@pytest.mark.parametrize("change", ["lock", "place", "python gone"])
def test_environment_of_another_lock_place_or_python_is_made_anew(
    checkout: Checkout, change: str
) -> None:
    checkout.run("true")
    checkout.calls()
    if change == "lock":
        (checkout.root / "requirements.lock").write_text("dummy==1.1\n")
    elif change == "place":
        checkout.root = checkout.root.rename(checkout.folder / "elsewhere")
    else:
        (checkout.root / ".venv/bin/python").unlink()

    checkout.run("true")

    assert len(checkout.calls()) == 3


def test_python_without_ensurepip_is_told_what_to_install(checkout: Checkout) -> None:
    (checkout.folder / "no-ensurepip").touch()

    status, _, err = checkout.run("true")

    assert status == 3
    assert "python3.11 lacks ensurepip" in err
    assert "apt install python3-venv" in err
    assert not (checkout.root / ".venv").exists()


def test_without_a_python_that_fits_the_ones_found_are_named(checkout: Checkout) -> None:
    (checkout.bin / "python3.11").write_text("#!/bin/sh\nexit 127\n")  # a shim of nothing
    checkout.add_python("python3", "3.9")

    status, _, err = checkout.run("true")

    assert status == 3
    assert "found: python3 (3.9)" in err


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_each_supported_python_is_found_past_a_shim_that_does_not_run(
    checkout: Checkout, version: str
) -> None:
    (checkout.bin / "python3.11").write_text("#!/bin/sh\nexit 127\n")
    checkout.add_python(f"python{version}", version)

    status, _, err = checkout.run("sh", "-c", "exit 0")

    assert status == 0
    assert f"with python{version} " in err


def test_named_python_is_taken_before_the_others(checkout: Checkout) -> None:
    checkout.add_python("mine", "3.12")

    assert "with mine " in checkout.run("true", ASCENDFLOW_PYTHON="mine")[2]


def test_command_sees_this_checkout_first_and_may_write_bytecode(
    checkout: Checkout,
) -> None:
    show = (
        'echo "$PYTHONPATH|${PYTHONDONTWRITEBYTECODE-unset}|$VIRTUAL_ENV|${PATH%%:*}|$PWD"'
    )
    variables = {"PYTHONPATH": "/mine", "PYTHONDONTWRITEBYTECODE": "1"}

    _, out, _ = checkout.run("sh", "-c", show, **variables)

    venv = f"{checkout.root}/.venv"
    assert out == f"{checkout.root}:/mine|unset|{venv}|{venv}/bin|{checkout.folder}\n"


def test_call_without_a_command_says_how_to_call(checkout: Checkout) -> None:
    status, _, err = checkout.run()

    assert status == 3
    assert "usage: ./run CMD" in err


@pytest.mark.slow
def test_folder_of_wheels_is_enough_without_a_network(
    tmp_path: Path, repository: Path
) -> None:
    root = tmp_path / "checkout"
    root.mkdir()
    shutil.copy(repository / "run", root)
    (root / "requirements.lock").write_text("dummy==1.0\n")
    (root / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'product'\nversion = '1.0'\n"
    )
    # The product's own build backend, so that no setuptools is needed.
    (root / "backend.py").write_text(
        "import shutil\n"
        "def build_editable(folder, config_settings=None, metadata_directory=None):\n"
        "    shutil.copy(name := 'product-1.0-py3-none-any.whl', folder)\n"
        "    return name\n"
    )
    _write_wheel(root, "product")
    _write_wheel(tmp_path / "wheels", "dummy")
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ
    }
    environment |= {
        "ASCENDFLOW_PYTHON": sys.executable,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "PIP_NO_INDEX": "1",
    }

    done = subprocess.run(
        [root / "run", "python", "-c", "import dummy, product; print(dummy.__file__)"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{root}/.venv/")


def _write_wheel(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    members = {
        f"{name}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    members[f"{info}/RECORD"] = "".join(f"{member},,\n" for member in members)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for member, text in members.items():
            wheel.writestr(member, text)
