"""Keys that a manifest gives and no backend reads that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.manifest.backends import OF_A_DEVICE, named_backends
from ascendflow.manifest.paths import block, lookup
from ascendflow.manifest.problems import Problem, shown
from ascendflow.vocabulary import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Iterator


def unread_keys(data: Any) -> Iterator[Problem]:
    """Yield a problem for each of them; `data` is the whole, raw."""
    # The models come with pydantic, which who asks for no manifest can do without.
    from ascendflow.manifest.convert import Convert
    from ascendflow.manifest.target import Target

    backends = named_backends(lookup(data, ("convert",)))
    if not backends or "cann" in backends:
        return
    backend = shown(block(data, "convert").get("backend", BACKENDS[0]))
    of_atc = tuple(key for key in Convert.model_fields if key not in Target.model_fields)
    for name, keys in (("convert", of_atc), *OF_A_DEVICE):
        for key in block(data, name):
            if key in keys:
                text = f"is read by backend: cann only, and the backend is {backend}"
                yield Problem((name, key), text, "remove the line, or set backend: cann")
