"""`convert.out_nodes`, in the names that the converted graph has.

The model was cut at these outputs when it came in. Nodes may be renamed since; the order
is the manifest's still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.signature import outputs_of
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def with_outputs(config: Mapping[str, Any], onnx: Path) -> Mapping[str, Any]:
    """Return a `convert` slice that names outputs by node and port of the file `onnx`.

    Raises:
        StageError: the file's outputs are not those that the manifest names.
    """
    options = config["options"]
    named = options.get("out_nodes")
    if not named:
        return config
    made = outputs_of(onnx)
    if len(made) != len(named) or not all(each["node"] for each in made):
        there = ", ".join(each["name"] for each in made)
        raise StageError(
            f"convert: out_nodes names {', '.join(named)}, and the graph's outputs are "
            f"{there}, one of which may be an input",
            hint="name outputs of nodes that compute something",
        )
    ports = [f"{each['node']}:{each['port']}" for each in made]
    spelled: dict[str, Any] = {"out_nodes": ports}
    if isinstance(types := options.get("output_type"), dict):
        renamed = dict(zip(named, ports, strict=True))
        spelled["output_type"] = {renamed[name]: kind for name, kind in types.items()}
    return {**config, "options": {**options, **spelled}}
