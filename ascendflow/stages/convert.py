"""convert: rewritten ONNX -> the target's model, by the backend that the manifest names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.errors import InternalError, NotModelledError, StageError
from ascendflow.graph.files import MODEL_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.stages.stage import StageContext


class Convert:
    """Compile the ONNX graph for one SoC."""

    name: ClassVar[str] = "convert"
    consumes: ClassVar[frozenset[str]] = frozenset({"rewritten"})
    produces: ClassVar[frozenset[str]] = frozenset({"model", "conversion.json"})
    computes_floats: ClassVar[bool] = False  # rounding is the same on every CPU
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what the backend compiles with."""
        if config["backend"] == "emulator":
            return ("numpy", "onnx", "onnx-ir")
        from ascendflow.backends.cann.toolkit import key_files

        options = config["options"]
        files = key_files(options["toolkit"], os.uname().machine)
        return (*(f"file:{each}" for each in files), f"python:{options['python']}")

    def run(self, ctx: StageContext) -> None:
        """Compile into the folder `model` and write the conversion document.

        Raises:
            NotModelledError: the emulator has no model of the SoC, the precision or a node.
            StageError: the compiler refused, or reported success and wrote nothing.
        """
        if ctx.backend is None:
            raise InternalError("convert runs with a backend")
        if (reason := ctx.backend.refuse(ctx.config)) is not None:
            raise NotModelledError(f"convert: {reason}")
        folder = ctx.outputs["model"]
        config = {**ctx.config, "files": ctx.files} if ctx.files else ctx.config
        document = ctx.backend.compile(ctx.inputs["rewritten"] / MODEL_FILE, folder, config)
        # Trust the files, not the exit status: a compiler that claims success and writes
        # nothing would otherwise be cached as a success.
        if not _holds_bytes(folder):
            raise StageError(
                f"convert: {ctx.backend.name} succeeded and left {folder.name}/ empty",
                hint="check the free space and permissions of the output folder",
            )
        # All but what has an entry for each node, since a record is to be read, and what
        # holds paths of this machine.
        ctx.findings.facts["conversion"] = {
            key: value for key, value in document.items() if key not in ("target_ops", "om")
        }
        write_json(ctx.outputs["conversion.json"], document)


def _holds_bytes(folder: Path) -> bool:
    return folder.is_dir() and any(
        path.is_file() and path.stat().st_size for path in folder.rglob("*")
    )
