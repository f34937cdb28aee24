"""An emulator's artifact as the document that `inspect` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow import vocabulary
from ascendflow.backends.emulator import artifact
from ascendflow.cache.digest import PREFIX, digest_file
from ascendflow.errors import StageError
from ascendflow.graph.inspection import contents, ends

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.inspection import EmulatedContents, Inspection


def inspect_emulated(folder: Path, *, digests: bool = True) -> Inspection:
    """Read the artifact in `folder`; its digests are held against its own in any case.

    Raises:
        StageError: a file of it is missing or damaged.
        OSError: it cannot be read.
    """
    import onnx
    from google.protobuf.message import DecodeError

    path = folder / artifact.FILE
    size = path.stat().st_size
    if size >= vocabulary.ONNX_FILE_LIMIT:
        raise StageError(f"{path}: has {size} bytes; such an artifact has less than 2 GiB")
    try:
        header, content = artifact.read(folder)
        graph = onnx.ModelProto.FromString(content)
        emulated = _contents(header, graph, folder)
    except (LookupError, TypeError, ValueError, RecursionError, DecodeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise StageError(f"{path}: its header or graph is damaged: {reason}") from error
    inputs, outputs = ends(graph)
    digest = digest_file(path).removeprefix(PREFIX) if digests else None
    return {
        "schema_version": 1,
        "kind": "emulated",
        "file": path.name,
        "size": size,
        "sha256": digest,
        "normalised_sha256": None,
        "inputs": inputs,
        "outputs": outputs,
        "om": None,
        "onnx": None,
        "emulated": emulated,
    }


def _contents(header: dict[str, Any], graph: Any, folder: Path) -> EmulatedContents:
    target, weights = header["target"], header["weights"]
    return {
        "emulator": int(header["emulator"]),
        "cann": str(target["cann"]),
        "soc_version": str(target["soc_version"]),
        "precision_mode": str(target["precision_mode"]),
        "behaviour": str(header["behaviour"]) if "behaviour" in header else None,
        "alternative": (folder / artifact.ALTERNATIVE).is_dir(),
        "weights_bytes": int(weights["size"]) if weights else 0,
        "graph": contents(graph),
    }
