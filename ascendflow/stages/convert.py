"""convert: rewritten ONNX -> the target's model, by the backend that the manifest names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends import load_backend
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
        return load_backend(config["backend"]).compiled_with(config)

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
        onnx = ctx.inputs["rewritten"] / MODEL_FILE
        document = ctx.backend.compile(onnx, folder, ctx.config, ctx.files)
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
            key: value for key, value in document.items() if key not in LEFT_OUT
        }
        write_json(ctx.outputs["conversion.json"], document)


LEFT_OUT = ("target_ops", "keepable", "om")


def _holds_bytes(folder: Path) -> bool:
    return folder.is_dir() and any(
        path.is_file() and path.stat().st_size for path in folder.rglob("*")
    )
