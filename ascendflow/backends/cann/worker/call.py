"""The worker's actions, and how it begins and ends."""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

from .files import ANSWERS, JOB, read
from .held import end, hold
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
    """Do the job for a caller on another machine."""
    return hold(run)


ACTIONS = {"run": run, "look": look, "digests": digests, "again": again, "held": held}


def main() -> None:
    """Do what the arguments say, and end."""
    sys.argv[0] = os.path.abspath(sys.argv[0])
    os.chdir(sys.argv[1])
    end(ACTIONS[sys.argv[2]]())
