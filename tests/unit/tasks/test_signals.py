from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

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
    ended = subprocess.run(
        [sys.executable, "-c", MAIN.format(signal=signal)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 130
    assert ended.stderr == f"interrupted by {signal}; what was built is kept\n"
    assert not Path(f"/proc/{ended.stdout.strip()}").exists()


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
    ended = subprocess.run(
        [sys.executable, "-c", WORKER],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.stdout, ended.stderr) == ("on its way out\n130\n", "")
