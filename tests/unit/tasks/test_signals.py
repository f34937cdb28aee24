from __future__ import annotations

import os
import signal as signals
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def ran(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, in the repository."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


MAIN = """
import os, signal, time
from multiprocessing import get_context
from ascendflow.tasks import signals

signals.install()
worker = get_context("fork").Process(target=time.sleep, args=(600,))
worker.start()
print(worker.pid, flush=True)
os.kill(os.getpid(), signal.{signal})
"""


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_workers_that_doit_was_not_told_of_end_with_an_interrupted_run(signal: str) -> None:
    ended = ran("-c", MAIN.format(signal=signal))

    assert ended.returncode == 130
    assert ended.stderr == f"interrupted by {signal}; what was built is kept\n"
    assert not Path(f"/proc/{ended.stdout.strip()}").exists()


INTERRUPTED = "interrupted by SIGINT; what was built is kept\n"
MOMENTS = {
    "again-on-the-way-out": (
        "import atexit\natexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))",
        INTERRUPTED,
    ),
    "while-children-become-possible": (
        "import sys\nsys.modules['ascendflow.process'] = sys",
        INTERRUPTED,
    ),
    "nobody-is-there-to-read": ("os.close(2)", ""),
}


@pytest.mark.parametrize(("before", "said"), MOMENTS.values(), ids=MOMENTS)
def test_a_signal_at_a_bad_moment_ends_the_run_as_well(before: str, said: str) -> None:
    code = f"""
import os, signal
from ascendflow.tasks import signals
signals.install()
{before}
os.kill(os.getpid(), signal.SIGINT)
"""
    ended = ran("-c", code)

    assert (ended.returncode, ended.stderr) == (130, said)


FORKED = """
import os, signal
from multiprocessing import get_context
from ascendflow.tasks import signals

os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
signals.install()
worker = get_context("fork").Process(target=print, args=("it works",))
worker.start()
worker.join()
print(worker.exitcode)
"""


def test_a_worker_that_is_told_as_it_is_forked_ends_without_a_word() -> None:
    """Nobody catches there what a handler raises."""
    ended = ran("-c", FORKED)

    assert (ended.stdout, ended.stderr) == ("130\n", "")


WORKER = """
import os, signal, time
from multiprocessing import get_context, util
from ascendflow.tasks import signals

def tell_again():
    os.kill(os.getpid(), signal.SIGTERM)
    print("on its way out", flush=True)

def work():
    util.Finalize(None, tell_again, exitpriority=0)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)

signals.install()
worker = get_context("fork").Process(target=work)
worker.start()
worker.join()
print(worker.exitcode)
"""


def test_a_worker_that_is_told_again_on_its_way_out_goes_on_ending() -> None:
    ended = ran("-c", WORKER)

    assert (ended.stdout, ended.stderr) == ("on its way out\n130\n", "")


INTERRUPT = """
import os, signal, sys

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # though we be in the background
sys.meta_path.insert(0, AtImport())
"""


@pytest.mark.parametrize(
    ("program", "module"),
    [
        ("doit", "ascendflow.tasks.pipelines"),
        ("doit", "ascendflow.tasks.commands.list"),
        ("ascendflow.cli", "ascendflow.tasks.pipelines"),
        ("ascendflow.cli", "ascendflow.tasks.command_line"),
        ("ascendflow.cli", "doit.doit_cmd"),
    ],
)
def test_an_interrupt_while_python_still_imports_shows_no_traceback(
    tmp_path: Path, program: str, module: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT.format(module=module))
    ended = ran("-m", program, "list", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")

    assert ended.stderr == "interrupted by SIGINT\n"
    assert (ended.returncode, ended.stdout) == (-signals.SIGINT, "")


def test_any_other_error_that_nobody_handles_is_told_as_ever() -> None:
    ended = ran("-c", "import ascendflow.tasks\n1 / 0")

    assert ended.returncode == 1
    assert ended.stderr.endswith("ZeroDivisionError: division by zero\n")
