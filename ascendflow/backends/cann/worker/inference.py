"""The job: the OM is loaded once, and each sample is run."""

from __future__ import annotations

import contextlib
import platform
import sys
import time
from typing import Any

from .ais_bench_session import AisBench
from .dump import ask_for_dump, dumped
from .pyacl_session import PyAcl
from .refused import RefusedError
from .slot import read_output, why_not

SESSIONS = {"ais_bench": AisBench, "pyacl": PyAcl}


def _soc_of_device() -> str:
    """Ask the device which SoC it is."""
    name = None
    try:
        import acl

        name = acl.get_soc_name() if hasattr(acl, "get_soc_name") else None
    except ImportError as error:
        sys.stderr.write(f"acl: {error}\n")
    if not name:
        raise RefusedError("which SoC the device is cannot be told: acl does not say")
    return str(name)


def run_all(job: dict[str, Any], say: Any) -> None:
    """Load the OM once, and run each sample."""
    import numpy as np

    soc = _soc_of_device()
    say(event="device", soc=soc, python=platform.python_version(), numpy=np.__version__)
    if soc.lower() != job["soc_version"].lower():
        text = "the OM is built for {}, and device {} is {}"
        raise RefusedError(text.format(job["soc_version"], job["device"], soc))
    dump = job.get("dump")
    if dump is not None:
        job["acl_json"] = ask_for_dump(dump["models"])
    session = SESSIONS[job["api"]](job)  # type: Any
    try:
        for number, sample in enumerate(job["samples"]):
            say(event="begin", sample=number)
            started = time.perf_counter()
            outputs = _run_one(session, number, sample)
            wall = round(1000 * (time.perf_counter() - started), 3)
            say(event="sample", sample=number, outputs=outputs, wall_ms=wall)
    except BaseException:
        with contextlib.suppress(Exception):  # the first error is the one to tell
            session.close()
        raise
    session.close()
    if dump is not None:
        say(event="dumped", files=dumped(dump["most_bytes"]))
    say(event="end")


def _run_one(session: Any, number: int, sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one sample and write what comes out."""
    import numpy as np

    feeds = sample["feeds"]
    arrays = {
        name: np.asarray(np.load(feed["file"], allow_pickle=False), order="C")
        for name, feed in feeds.items()
    }
    wrong = why_not(session.inputs, feeds, arrays)
    if wrong:
        raise RefusedError("; ".join(wrong))
    ordered = [arrays[slot.name] for slot in session.inputs]
    outputs = session.run(ordered, sample.get("gear") or [])
    if len(outputs) != len(session.outputs):
        text = "the OM has {} outputs, {} came"
        raise RefusedError(text.format(len(session.outputs), len(outputs)))
    said = []
    for index, (slot, array) in enumerate(zip(session.outputs, outputs)):
        np.save(f"out-{number}-{index}.npy", read_output(slot, array))
        said.append({"name": slot.name, "dtype": slot.dtype})
    return said
