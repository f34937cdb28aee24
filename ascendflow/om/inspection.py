"""An OM file as the document that `inspect` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.om.contents import read_om
from ascendflow.om.digest import normalised_digest, raw_digest
from ascendflow.om.source import opened

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.inspection import Inspection


def inspect_om(path: Path, *, digests: bool = True) -> Inspection:
    """Read an OM file; without digests neither weights nor kernels are read.

    Raises:
        StageError: it is no OM, or not a whole one.
        OSError: it cannot be opened.
    """
    with opened(path) as source:
        om = read_om(source)
        return {
            "schema_version": 1,
            "kind": "om",
            "file": path.name,
            "size": source.size,
            "sha256": raw_digest(source) if digests else None,
            "normalised_sha256": normalised_digest(source) if digests else None,
            "inputs": om.inputs,
            "outputs": om.outputs,
            "om": om.contents,
            "onnx": None,
            "emulated": None,
        }
