"""The code that stand-in stages run: text in, text out, nothing heavy imported.

Copied into a checkout's `ascendflow/stages/`, never imported by the tests themselves.
What a stand-in writes follows from its inputs and its slice alone, as in a real stage.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ascendflow.stages.standin_documents import contrast, report, verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.stages.stage import Stage, StageContext

NOT_IN_OUTPUT = {"simplify": {"samples", "golden"}}
"""Inputs that a stage only judges by, so that its output does not follow from them."""

USER_CODE = {
    "samples": ("samples", "factory"),
    "export": ("torch", "factory"),
    "golden": ("torch", "factory"),
    "evaluate": ("metric", "factory"),
}


def play(stage: Stage, ctx: StageContext) -> None:
    """Write every output of a stage as text that follows from all it was given."""
    trouble = _trouble_for(stage.name, ctx)
    if trouble in BEFORE:
        _make_half(ctx)
        BEFORE[trouble](ctx)
        return
    _make(stage, ctx)
    if trouble in AFTER:
        AFTER[trouble](ctx)


def _make(stage: Stage, ctx: StageContext) -> None:
    said = _user_code(stage.name, ctx.config)
    content = {
        "stage": stage.name,
        "config": ctx.config,
        "inputs": {
            role: _digest(path)
            for role, path in sorted({**ctx.inputs, **ctx.files}.items())
            if role not in NOT_IN_OUTPUT.get(stage.name, set())
        },
        "user": said,
    }
    for role, path in ctx.outputs.items():
        document = DOCUMENTS.get(role, lambda content, _ctx: content)(content, ctx)
        text = json.dumps(document, indent=1, sort_keys=True)
        if path.suffix:
            path.write_text(text)
        else:
            path.mkdir(exist_ok=True)
            (path / "content.json").write_text(text)


def _user_code(stage: str, config: Any) -> Any:
    block, factory = USER_CODE.get(stage, ("", ""))
    call = config.get(block)
    if not call or "module" not in call:
        return None
    module = import_module(call["module"].removesuffix(".py"))
    return getattr(module, call[factory])(**call["arguments"])


def _digest(path: Path) -> str:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _verdict(content: Any, ctx: StageContext) -> dict[str, Any]:
    threshold = content["config"]["outputs"]["*"]["cosine_similarity"]
    passed = bool(threshold["min"] <= 0.95)
    check = {
        "name": "mask.cosine_similarity",
        "pair": "onnx-target",
        "subject": "mask",
        "sample": "0",
        "metric": "cosine_similarity",
        "value": 0.95,
        "threshold": threshold,
        "passed": passed,
        "tightest": 0.95,
        "problem": None,
    }
    made: dict[str, Any] = verdict(
        content["config"]["model"],
        passed=passed,
        checks=[check],
        judged={role: _digest(path) for role, path in ctx.inputs.items()},
    )
    return made


def _report(content: Any, ctx: StageContext) -> dict[str, Any]:
    told = json.loads(ctx.inputs["verdict.json"].read_text())
    made: dict[str, Any] = report(
        told["model"],
        passed=told["passed"],
        warnings=json.loads(ctx.inputs["warnings.json"].read_text())["warnings"],
        checks=told["checks"],
        content=content,
    )
    return made


def _contrast(content: Any, ctx: StageContext) -> dict[str, Any]:
    sides = [
        json.loads(ctx.inputs[f"{backend}/verdict.json"].read_text())
        for backend in content["config"]["backends"]
    ]
    made: dict[str, Any] = contrast(*(side["passed"] for side in sides), content=content)
    return made


DOCUMENTS = {
    "verdict.json": _verdict,
    "report.json": _report,
    "contrast.json": _contrast,
}


def _trouble_for(stage: str, ctx: StageContext) -> str | None:
    """Name what a test wants this stage to meet: `tests/faults.py` leaves an empty file."""
    wanted = ctx.folder.parents[2] / "troubles" / stage
    found = (name for name in (*BEFORE, *AFTER) if os.path.exists(f"{wanted}.{name}"))
    return next(found, None)  # in no record: to look whether a file is there is no read


def _make_half(ctx: StageContext) -> None:
    """Leave the first half of the first output."""
    path = next(iter(ctx.outputs.values()))
    if not path.suffix:
        path.mkdir()
        path /= "content.json"
    path.write_text('{"half": ')


def _wait(ctx: StageContext) -> None:
    """Wait for the test, with a process in our group and one that left it."""
    import subprocess  # not for a stage that meets nothing

    subprocess.Popen(["sleep", "600"])
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "600"])  # noqa: S606
        os._exit(0)
    os.wait()
    announce_and_wait(str(ctx.folder.parents[2] / "troubles"))


def _hang(_ctx: StageContext) -> None:
    time.sleep(600)


def _eat_memory(_ctx: StageContext) -> None:
    eaten = bytearray(b"x") * 400_000_000
    time.sleep(600 + 0 * len(eaten))


def _fill(folder: Path) -> None:
    """Take what is left of a disk, as another program might."""
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


BEFORE: dict[str, Callable[[StageContext], None]] = {
    "waits": _wait,
    "crashes": lambda _ctx: os.kill(os.getpid(), signal.SIGSEGV),
    "hangs": _hang,
    "eats-memory": _eat_memory,
    "makes-half": lambda _ctx: None,
    "fills-build": lambda ctx: _fill_and_go_on(ctx, "build"),
}
"""What happens when a stage has made half of its first output."""

AFTER: dict[str, Callable[[StageContext], None]] = {
    "waits-at-its-end": lambda ctx: announce_and_wait(
        str(ctx.folder.parents[2] / "troubles")
    ),
    "fills-store": lambda ctx: _fill(ctx.folder.parents[1] / ".ascendflow"),
}
"""What happens when it has made all of them."""


def _fill_and_go_on(ctx: StageContext, folder: str) -> None:
    _fill(ctx.folder.parents[1] / folder)
    for path in ctx.outputs.values():
        (path if path.suffix else path / "content.json").write_text("x" * 100_000)


def announce_and_wait(meeting: str) -> None:
    """Say that we are there, with our process id, and wait to be told to go on.

    Args:
        meeting: a folder outside of the checkout; the other side is `checkouts.Meeting`.
    """
    arrived = os.path.join(meeting, "arrived")
    with open(f"{arrived}.partial", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    os.rename(f"{arrived}.partial", arrived)
    while not os.path.exists(os.path.join(meeting, "go")):  # in no record: stat is no read
        time.sleep(0.01)
