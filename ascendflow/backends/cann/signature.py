"""What a model of this backend is, kept beside the OM: `model.json`.

An OM names its outputs in its own way and says nothing of what ONNX calls them, so what
its build knows is written down, and travels with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from ascendflow.documents.json_file import read_json, write_json
from ascendflow.errors import StageError
from ascendflow.manifest.atc_gears import GEARS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import onnx

FILE = "model.json"
STATIC, DYNAMIC = "static", "dynamic_shape"
OPEN = -1


class SignatureInput(TypedDict):
    """An input: `dtype` is the samples', `om_dtype` what the OM is built to take."""

    name: str
    dtype: str
    om_dtype: str


class SignatureOutput(TypedDict):
    """An output of the ONNX model, and the node and port that make it."""

    name: str
    dtype: str
    node: str
    port: int


class Signature(TypedDict):
    """`model.json`.

    `shapes` is `static`, `dynamic_shape`, or the option that names the gears; `input_shape`
    and `gears` are the manifest's. `cann` and `opp` are the versions that built it. `nodes`
    are the ONNX model's: name -> its outputs, by which dumped tensors are named.
    """

    schema_version: int
    soc_version: str
    cann: str
    opp: str | None
    shapes: str
    input_shape: dict[str, list[int | str]]
    gears: list[list[int]]
    inputs: list[SignatureInput]
    outputs: list[SignatureOutput]
    nodes: dict[str, list[str]]


def signature(
    onnx_file: Path, config: Mapping[str, Any], cann: str, opp: str | None
) -> Signature:
    """Say what a model built from `onnx_file` is.

    Args:
        onnx_file: what was built from.
        config: the `convert` slice.
        cann: the version of CANN that built it.
        opp: the version of its operator package, or None.
    """
    from ascendflow.graph.structure import read_structure

    graph = read_structure(onnx_file).model.graph
    options = config["options"]
    pictures = options.get("aipp") or {}
    kinds = [kind for kind in GEARS if options.get(kind)]
    shapes = kinds[0] if kinds else DYNAMIC if options.get(DYNAMIC) else STATIC
    listed = options[shapes] if kinds else ()
    gears = [[gear] if isinstance(gear, int) else list(gear) for gear in listed]
    return {
        "schema_version": 1,
        "soc_version": config["soc_version"],
        "cann": cann,
        "opp": opp,
        "shapes": shapes,
        "input_shape": {
            name: _as_fed(list(sizes), is_picture=name in pictures)
            for name, sizes in (options.get("input_shape") or {}).items()
        },
        "gears": gears,
        "inputs": list(_inputs(graph, options.get("input_fp16_nodes") or (), pictures)),
        "outputs": list(_outputs(graph)),
        "nodes": {node.name: list(node.output) for node in graph.node if node.name},
    }


def outputs_of(onnx_file: Path) -> list[SignatureOutput]:
    """Return the outputs of an ONNX file, in its order; its weights are not read."""
    from ascendflow.graph.structure import read_structure

    return list(_outputs(read_structure(onnx_file).model.graph))


def _dtype(value: onnx.ValueInfoProto) -> str:
    import onnx

    return str(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))


def _as_fed(sizes: list[int | str], *, is_picture: bool) -> list[int | str]:
    """Spell [n, c, h, w] as the picture that AIPP takes has it: [n, h, w, c]."""
    return [sizes[0], *sizes[2:], sizes[1]] if is_picture else sizes


def _inputs(
    graph: onnx.GraphProto, fp16: Sequence[str], pictures: Collection[str]
) -> list[SignatureInput]:
    weights = {each.name for each in graph.initializer}
    found: list[SignatureInput] = []
    for value in graph.input:
        if value.name not in weights:
            dtype = "uint8" if value.name in pictures else _dtype(value)
            om_dtype = "float16" if value.name in fp16 else dtype
            found.append({"name": value.name, "dtype": dtype, "om_dtype": om_dtype})
    return found


def _outputs(graph: onnx.GraphProto) -> list[SignatureOutput]:
    makers = {
        tensor: (node.name, port)
        for node in graph.node
        for port, tensor in enumerate(node.output)
    }
    found: list[SignatureOutput] = []
    for value in graph.output:
        node, port = makers.get(value.name, ("", 0))
        found.append(
            {"name": value.name, "dtype": _dtype(value), "node": node, "port": port}
        )
    return found


def write_signature(folder: Path, said: Signature) -> None:
    """Write it beside the OM."""
    write_json(folder / FILE, dict(said))


def read_signature(folder: Path) -> Signature:
    """Read what stands beside the OM.

    Raises:
        StageError: there is none.
    """
    if not (folder / FILE).is_file():
        raise StageError(
            f"infer: {FILE} is missing beside the OM, in {folder.name}/",
            hint="build the model again: doit convert:<model>",
        )
    said: Signature = read_json(folder / FILE)
    return said
