"""The worker's actions, and how it begins and ends."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sys
import threading
import traceback
from typing import Any

from .files import ANSWERS, FOLDER, JOB, read
from .inference import run_all
from .machine import digests, look
from .refused import RefusedError


def run() -> int:
    """Do the job; answer in lines of JSON, each on the disk before the next step."""
    with open(ANSWERS, "w", encoding="utf-8") as file:

        def say(**line: Any) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

        try:
            run_all(read(JOB), say)
        except RefusedError as error:
            say(event="refused", text=str(error))
            return 1
        except Exception as error:
            traceback.print_exc()
            say(event="failed", text=f"{type(error).__name__}: {error}")
            return 1
    return 0


def again() -> int:
    """Start anew in the environment that the job names, and end when the caller does."""
    job = read(JOB)
    argv = [job["python"], "-u", sys.argv[0], os.getcwd(), "held"]
    os.execve(job["python"], argv, job["environment"])


def held() -> int:
    """Do the job as long as the caller is there: it holds our input, and writes to it.

    Where it is gone, what it brought is taken away: nobody comes back for it.
    """
    silence_s = read(JOB)["silence_s"]

    def watch() -> None:
        while select.select([0], [], [], silence_s)[0] and os.read(0, 4096):
            pass
        folder, above = os.getcwd(), os.path.dirname(os.getcwd())
        if os.path.basename(above) == FOLDER:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # others are at work in it
                os.rmdir(above)
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()
    return run()


ACTIONS = {"run": run, "look": look, "digests": digests, "again": again, "held": held}


def main() -> None:
    """Do what the arguments say, and end."""
    sys.argv[0] = os.path.abspath(sys.argv[0])
    os.chdir(sys.argv[1])
    code = ACTIONS[sys.argv[2]]()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a native library that crashes as it is unloaded changes nothing
