"""The code that stand-in stages run: text in, text out, nothing heavy imported.

Copied into a checkout's `ascendflow/stages/`, never imported by the tests themselves.
What a stand-in writes follows from its inputs and its slice alone, as in a real stage.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    return {
        "schema_version": 1,
        "model": content["config"]["model"],
        "backend": "emulator",
        "is_real_device": False,
        "emulation": None,
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "passed": passed,
        "checks": [check],
        "first_divergent_node": None,
        "judged": {role: _digest(path) for role, path in ctx.inputs.items()},
    }


def _report(content: Any, ctx: StageContext) -> dict[str, Any]:
    verdict = json.loads(ctx.inputs["verdict.json"].read_text())
    return {
        "schema_version": 1,
        "model": verdict["model"],
        "passed": verdict["passed"],
        "warnings": json.loads(ctx.inputs["warnings.json"].read_text())["warnings"],
        "metric": None,
        "checks": verdict["checks"],
        "divergent_node": None,
        "emulation": None,
        "rules": [],
        "content": content,
    }


DOCUMENTS = {"verdict.json": _verdict, "report.json": _report}


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
