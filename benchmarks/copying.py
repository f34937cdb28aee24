"""What stand-in stages do: the same `cat` as the other tools' stages, and small documents.

Copied into a checkout's `ascendflow/stages/`, and run there only. There `ARE_EQUAL` may be
made false: then each stage puts its name before what it copies.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from ascendflow.documents.json_file import write_json
from ascendflow.stages.standin_documents import report, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.stages.stage import Stage, StageContext

COPIES = {
    "export": ("exported", "weights"),
    "simplify": ("simplified", "exported"),
    "rewrite": ("rewritten", "simplified"),
    "check": ("check.json", "rewritten"),
    "convert": ("model", "rewritten"),
    "infer": ("outputs", "model"),
    "compare": ("metrics.json", "outputs"),
}
"""Stage -> the role it makes, and what that is a copy of."""

ARE_EQUAL = True


def play(stage: Stage, ctx: StageContext) -> None:
    """Write every output of a stage; that of the chain follows from its input."""
    made, source = COPIES.get(stage.name, ("", ""))
    for role, path in ctx.outputs.items():
        if role == made:
            _copy(stage.name, ctx, _file({**ctx.inputs, **ctx.files}[source]), path)
        elif path.suffix:
            write_json(path, _document(role))
        else:
            path.mkdir(exist_ok=True)
            write_json(path / "content.json", {"stage": stage.name})


def _copy(stage: str, ctx: StageContext, source: Path, target: Path) -> None:
    if not target.suffix:
        target.mkdir(exist_ok=True)
    before = b"" if ARE_EQUAL else stage.encode()
    if stage == "rewrite":
        before += json.dumps(ctx.config).encode()
    with _file(target).open("wb") as file:
        subprocess.run(["cat", "-", str(source)], input=before, stdout=file, check=True)


def _file(path: Path) -> Path:
    return path if path.suffix else path / "model.onnx"


def _document(role: str) -> dict[str, object]:
    made: dict[str, object] = verdict("m0") if role == "verdict.json" else report("m0")
    return made
