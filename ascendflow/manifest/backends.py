"""Which backends a manifest names, and what it says to one of them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ascendflow.vocabulary import BACKENDS

if TYPE_CHECKING:
    from ascendflow.manifest.load import LoadedManifest

OF_A_DEVICE = (
    ("infer", ("python", "api", "device", "toolkit", "host", "ssh_config")),
    ("compare", ("dump_gb", "nodes_by")),
)
"""(block, those of its keys that only `cann` reads); of `convert` all but `Target`'s."""

NOT_BESIDE_EMULATION = (
    "aipp",
    "dynamic_batch_size",
    "dynamic_dims",
    "dynamic_image_size",
    "dynamic_shape",
    "input_fp16_nodes",
    "insert_op_conf",
    "out_nodes",
    "output_type",
)
"""Options that make other inputs or outputs of a model, for which nothing is emulated:
one set of samples and goldens could not serve both."""


def named_backends(convert: Any) -> tuple[str, ...]:
    """Return the backends that a raw `convert` block names; none where it is no block.

    A name that is none of ours is left out: what it would read is not known.
    """
    if not isinstance(convert, dict):
        return ()
    given = convert.get("backend")
    listed = given if isinstance(given, list) else [BACKENDS[0] if given is None else given]
    return tuple(name for name in listed if name in BACKENDS)


def alone(loaded: LoadedManifest, backend: str) -> LoadedManifest:
    """Return what a manifest that names only this backend would be.

    So a stage of one backend has the key that it would have without the others, and what
    only another reads is in no key of it.
    """
    convert = loaded.manifest.convert.model_copy(update={"backend": (backend,)})
    manifest = loaded.manifest.model_copy(update={"convert": convert})
    files = loaded.files
    if backend != "cann":  # the only one that reads files
        files = {stage: named for stage, named in files.items() if stage != "convert"}
    return replace(loaded, manifest=manifest, files=files)
