"""`ascendflow inspect FILE`: what an OM, an ONNX file or an emulation says of itself."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.errors import StageError, UsageError
from ascendflow.tasks.commands.command import OwnCommand
from ascendflow.tasks.commands.options import refuse_unknown, switch, word

if TYPE_CHECKING:
    from ascendflow.documents.inspection import Inspection

FORMATS = ("text", "json")
_OM, _ZIP = b"IMOD", b"PK\x03\x04"
_OM_SUFFIXES = frozenset({".om", ".exeom"})
_EMULATED = b"ASCENDFLOW-EMU\0", ".emu"
"""How an emulator's artifact begins, and its name ends."""


class Inspect(OwnCommand):
    """Inspects one file, with no pipeline around it; thin, see `ascendflow.om`."""

    name = "inspect"
    doc_purpose = "tell what an OM, an ONNX file or an emulator's artifact holds"
    doc_usage = "FILE [--format text|json] [--no-digests]"
    doc_description = (
        "Of an OM: header, partitions, attributes, ATC's command line, versions, SoC,"
        " inputs, outputs, gears and memory. FILE may be the folder `model` of a build too."
    )
    cmd_options: ClassVar[tuple[dict[str, Any], ...]] = (
        word(
            "format",
            "FORMAT",
            "text or json (its schema: `schema inspection`) [default: text]",
            "text",
        ),
        switch("no-digests", "read neither weights nor kernels, so no sha256 is told"),
    )

    def answer(self, options: dict[str, Any], arguments: list[str]) -> int:
        """Inspect; 0 if the file could be read."""
        if len(arguments) != 1:
            hint = f"usage: {self.bin_name} inspect {self.doc_usage}"
            raise UsageError(f"inspect: give one file, got {len(arguments)}", hint=hint)
        refuse_unknown("inspect", "format", options["format"], FORMATS)
        try:
            found = _inspect(Path(arguments[0]), digests=not options["no-digests"])
        except StageError as error:
            raise UsageError(f"inspect: {error.message}", hint=error.hint) from error
        sys.stdout.write(_spelled(found, options["format"]))
        return 0


def _inspect(path: Path, *, digests: bool) -> Inspection:
    path = _in_folder(path) if path.is_dir() else path
    head = _head(path)
    if head.startswith(_OM) or path.suffix in _OM_SUFFIXES:
        from ascendflow.om.inspection import inspect_om

        return inspect_om(path, digests=digests)
    if head.startswith(_EMULATED[0]) or path.suffix == _EMULATED[1]:
        return _inspect_emulated(path, digests=digests)
    if head.startswith(_ZIP):
        hint = "build it with --mode=0, atc's default, to get an .om"
        raise UsageError(f"inspect: {path}: is a ZIP archive (an .om2?)", hint=hint)
    from ascendflow.graph.inspection import inspect_onnx

    try:
        return inspect_onnx(path, digests=digests)
    except StageError as error:
        hint = f"an OM begins with {_OM!r}; this file begins with {head[:16]!r}"
        hint = error.hint or hint if path.suffix == ".onnx" else hint
        raise UsageError(f"inspect: {error.message}", hint=hint) from error


def _in_folder(folder: Path) -> Path:
    """Return the artifact in a folder that a build left, whose name may tell the host."""
    suffixes = (*sorted(_OM_SUFFIXES), _EMULATED[1])
    found = sorted(path for path in folder.iterdir() if path.suffix in suffixes)
    if len(found) == 1:
        return found[0]
    there = ", ".join(path.name for path in found) or f"no {' or '.join(suffixes)}"
    raise UsageError(
        f"inspect: {folder}: is a folder with {there} in it, not one of them",
        hint="name the file, or the folder build/<model>/convert/model",
    )


def _head(path: Path) -> bytes:
    """Read the first bytes of a regular file; of nothing else, since a pipe would block."""
    if not path.exists():
        raise UsageError(f"inspect: {path}: does not exist")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"inspect: {path}: is no regular file")
        if not (head := file.read(16)):
            raise UsageError(f"inspect: {path}: is empty: 0 bytes")
        return head


def _inspect_emulated(path: Path, *, digests: bool) -> Inspection:
    from ascendflow.backends.emulator import artifact
    from ascendflow.backends.emulator.inspection import inspect_emulated

    if path.name != artifact.FILE:
        hint = "its weights are found beside it by that name"
        what = f"an emulator's artifact is called {artifact.FILE}"
        raise UsageError(f"inspect: {path}: {what}", hint=hint)
    return inspect_emulated(path.parent, digests=digests)


def _spelled(found: Inspection, form: str) -> str:
    if form == "json":
        from ascendflow.documents.json_file import json_text

        return json_text(found)
    from ascendflow.report.inspection import inspection_lines

    return "".join(f"{line}\n" for line in inspection_lines(found))
