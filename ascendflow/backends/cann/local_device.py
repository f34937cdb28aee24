"""Runs an OM on a device of this machine, in the worker."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann import job
from ascendflow.backends.cann.environment import environment_of
from ascendflow.backends.cann.fits_device import There, hold_to_device
from ascendflow.backends.cann.own_word import own_word
from ascendflow.backends.cann.signature import read_signature
from ascendflow.backends.cann.toolkit import find_toolkit
from ascendflow.backends.cann.worker_file import write_worker
from ascendflow.errors import StageError, ToolNotFoundError
from ascendflow.process import run_child, tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np

    from ascendflow.backends.cann.own_word import OwnWord
    from ascendflow.backends.cann.signature import Signature
    from ascendflow.backends.cann.toolkit import Toolkit

HEARTBEAT_S = 5.0


@contextmanager
def ran(
    model: Path,
    feeds: Iterable[Mapping[str, np.ndarray]],
    options: Mapping[str, Any],
) -> Iterator[Path]:
    """Load the OM once, run every sample, and give the folder with what came of them.

    Args:
        model: the folder with the OM.
        feeds: the samples.
        options: `infer` of the manifest: python, device, api, toolkit; and `dump`,
            see `job.write_job`.

    Raises:
        StageError: the OM is not for this CANN or SoC, or a sample not for the OM.
        ToolFailedError: the worker failed or died; says at which sample.
    """
    said, own, toolkit = held(model, options)
    with TemporaryDirectory(prefix="ascendflow-infer-") as folder:
        work = Path(folder).resolve()
        samples = job.write_feeds(work, feeds, said)
        # Weights may lie beside the OM, which loads them by its own folder.
        job.write_job(work, str(own.path.resolve()), said, samples, options)
        _run(work, toolkit, options["python"])
        yield work


def held(model: Path, options: Mapping[str, Any]) -> tuple[Signature, OwnWord, Toolkit]:
    """Return what an OM is, and the toolkit of this machine, which may run it.

    Args:
        model: the folder with the OM.
        options: `infer` of the manifest.

    Raises:
        ToolNotFoundError: there is no such toolkit.
        StageError: the OM is not for its CANN, or none is there.
    """
    said, own = read_signature(model), own_word(model)
    root, arch = Path(options["toolkit"]), os.uname().machine
    toolkit = find_toolkit(root, arch, "infer.toolkit")
    hold_to_device(said, own, There(toolkit.version, toolkit.versions, toolkit.arch))
    return said, own, toolkit


def _run(work: Path, toolkit: Toolkit, python: str) -> None:
    log = work / "worker.log"
    script = write_worker(work)

    def beat(elapsed_s: float) -> None:
        done = len([x for x in job.read_answers(work) if x["event"] == "sample"])
        print(f"{elapsed_s:.0f} s: {done} samples", flush=True)  # noqa: T201

    try:
        status = run_child(
            [python, "-u", str(script), str(work), "run"],
            cwd=work,
            environment=environment_of(toolkit, python, work),
            log=log,
            on_heartbeat=beat,
            heartbeat_s=HEARTBEAT_S,
        )
    except (ToolNotFoundError, PermissionError) as error:
        hint = "name a python3 that has numpy and ais_bench, or acl"
        raise StageError(f"infer.python: {python} cannot be run", hint=hint) from error
    print(tail(log, 1000), flush=True)  # noqa: T201  into the stage's log
    answers = job.read_answers(work)
    device = next((each for each in answers if each["event"] == "device"), None)
    if device is not None:
        print(f"device: {device}", flush=True)  # noqa: T201
    job.hold_to_end(answers, status.explanation, tail(log, 5))
