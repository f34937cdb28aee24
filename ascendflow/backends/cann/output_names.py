"""Which output of an OM is which of the ONNX model's: by name, never by position.

ATC calls an output `<node>:<port>:<tensor>`, as in the attribute
`attr_model_out_nodes_name` of an OM; the node may be one that it put in behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ascendflow.backends.cann.signature import SignatureOutput


def matched(om: Sequence[str], onnx: Sequence[SignatureOutput]) -> list[int]:
    """Return, for each output of the ONNX model, its place among the OM's.

    Raises:
        StageError: the two are not the same outputs; lists both.
    """
    places = [
        [index for index, name in enumerate(om) if _is(name, output, onnx)]
        for output in onnx
    ]
    found = [place[0] for place in places if len(place) == 1]
    if len(set(found)) == len(onnx) == len(om):
        return found
    said = ", ".join(f"{each['node']}:{each['port']}:{each['name']}" for each in onnx)
    raise StageError(
        f"infer: the OM's outputs are {', '.join(om)}, the model's are {said}",
        hint="the OM must give the model's own outputs; to cut the model, golden and all, "
        "name them in convert.out_nodes",
    )


def _is(name: str, output: SignatureOutput, onnx: Sequence[SignatureOutput]) -> bool:
    made_by = f"{output['node']}:{output['port']}"
    if name in (output["name"], made_by, f"{made_by}:{output['name']}"):
        return True
    # A tensor's name may hold colons itself: the longest that fits is meant.
    fits = [each["name"] for each in onnx if name.endswith(f":{each['name']}")]
    made = any(name.startswith(f"{each['node']}:{each['port']}:") for each in onnx)
    return not made and bool(fits) and output["name"] == max(fits, key=len)
