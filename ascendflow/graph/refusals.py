"""What no pipeline may start from, said of an ONNX graph before anything runs it.

Each function yields one sentence per finding, naming node or tensor, and yields nothing
for a graph that is fine. `why_refused` asks them all, so a user meets them all at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ascendflow.graph.endless import endless_loops
from ascendflow.graph.functions import why_not_spelled_out
from ascendflow.graph.io_spec import input_values, opset_of, value_spec
from ascendflow.graph.known_scalars import known_scalars
from ascendflow.graph.node_inputs import why_not_these
from ascendflow.graph.operators import DEFAULT_DOMAINS, RANDOM_OPERATORS
from ascendflow.graph.outline import label
from ascendflow.graph.traverse import every_node, subgraphs_of
from ascendflow.vocabulary import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx

ONNXRUNTIME_DOMAIN = "com.microsoft"
EVAL_HINT = "call model.eval() before the export; in a forward, pass training=self.training"


def why_refused(
    model: onnx.ModelProto, sources: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield all that is wrong with `model`, its external data excepted.

    Args:
        model: any model.
        sources: first output of a node -> the line it comes from, where that is known.
    """
    yield from imports(model)
    yield from interface(model.graph)
    yield from repeated_names(model.graph, frozenset())
    yield from _unknown_operators(model)
    yield from why_not_these(model)
    yield from _random_nodes(model, sources or {})
    yield from training_nodes(model)
    yield from endless_loops(model, known_scalars(model))
    yield from functions(model)


def imports(model: onnx.ModelProto) -> Iterator[str]:
    """Say when the file does not tell which operators it means."""
    if not model.opset_import:
        yield (
            "the file has no opset_import, so its operators have no definite meaning; it "
            "is the last of a file, so look first whether this one was cut short"
        )
        return
    if opset_of(model) is None:
        yield "opset_import does not name ONNX's own operators (domain '')"
    seen: dict[str, int] = {}
    for opset in model.opset_import:
        domain = "" if opset.domain in DEFAULT_DOMAINS else opset.domain
        if seen.setdefault(domain, opset.version) != opset.version:
            both = f"{seen[domain]} and {opset.version}"
            yield f"domain {domain!r} is imported in versions {both}"


def interface(graph: onnx.GraphProto) -> Iterator[str]:
    """Say when there is nothing to feed or to compare, or it is no plain tensor."""
    inputs = input_values(graph)
    if not inputs:
        yield "the model has no input"
    if not graph.output:
        yield "the model has no output"
    for kind, values in (("input", inputs), ("output", graph.output)):
        for value in values:
            dtype = value_spec(value).dtype
            if dtype and dtype not in DTYPES:
                yield f"{kind} {value.name!r} is of type {dtype}, not a numeric tensor"


def repeated_names(graph: onnx.GraphProto, outer: frozenset[str]) -> Iterator[str]:
    """Say which tensor has two origins: the graph is not in single-assignment form.

    Args:
        graph: one graph; its sub-graphs are looked at too.
        outer: names that the graphs around it define.
    """
    origin = dict.fromkeys(outer, "the graph around it")
    for value in input_values(graph):
        yield from _define(origin, value.name, "an input")
    for tensor in graph.initializer:
        yield from _define(origin, tensor.name, "an initializer")
    for node in graph.node:
        for name in filter(None, node.output):
            yield from _define(origin, name, f"{node.op_type} node {node.name!r}")
    # In their own order: a name that is no text is bytes, and sorts with no other.
    for name, times in Counter(value.name for value in graph.output).items():
        if times > 1:
            yield f"output {name!r} is listed {times} times"
    for node in graph.node:
        for inner in subgraphs_of(node):
            yield from repeated_names(inner, frozenset(origin))


def _unknown_operators(model: onnx.ModelProto) -> Iterator[str]:
    """Say of each node whose operator nothing here can run: no golden can be had of it."""
    import onnx

    versions = {opset.domain: opset.version for opset in model.opset_import}
    versions[""] = opset_of(model) or onnx.defs.onnx_opset_version()
    local = {(function.domain, function.name) for function in model.functions}
    for node in every_node(model):
        domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
        if (domain, node.op_type) in local or domain.startswith(ONNXRUNTIME_DOMAIN):
            continue
        version = versions.get(domain, 1)
        try:
            onnx.defs.get_schema(node.op_type, version, domain)
        except (onnx.defs.SchemaError, TypeError):  # TypeError: a version beyond int32
            where = (
                f"domain {domain!r}, version {version}" if domain else f"opset {version}"
            )
            yield f"node {label(node)!r}: {node.op_type} is no known operator of {where}"


def _random_nodes(model: onnx.ModelProto, sources: Mapping[str, str]) -> Iterator[str]:
    """Say which nodes compute something else each time."""
    for node in every_node(model):
        if node.domain in DEFAULT_DOMAINS and node.op_type in RANDOM_OPERATORS:
            source = sources.get(node.output[0]) if node.output else None
            yield (
                f"node {label(node)!r} is random ({node.op_type}): it has no golden; take "
                f"the random part out of {source or 'the model'}"
            )


def training_nodes(model: onnx.ModelProto) -> Iterator[str]:
    """Say which nodes compute with the statistics, or drop elements, of training."""
    opset = opset_of(model) or 0
    constants = known_scalars(model)
    for node in every_node(model):
        if node.domain not in DEFAULT_DOMAINS:
            continue
        trains = (node.op_type == "BatchNormalization" and _trains(node, opset)) or (
            node.op_type == "Dropout" and _drops(node, opset, constants)
        )
        if trains:
            yield f"{node.op_type} {label(node)!r} is in training mode; {EVAL_HINT}"


def functions(model: onnx.ModelProto) -> Iterator[str]:
    """Say when local functions cannot be spelled out, which every model's are."""
    if (reason := why_not_spelled_out(model)) is not None:
        yield reason


def _define(origin: dict[str, str], name: str, by: str) -> Iterator[str]:
    if name in origin:
        yield f"tensor {name!r} is defined twice: by {origin[name]} and by {by}"
    origin[name] = by


def _trains(node: onnx.NodeProto, opset: int) -> bool:
    """Return whether batch statistics are used; each version says it differently."""
    if opset < 7:
        return not any(a.name == "is_test" and a.i for a in node.attribute)
    if opset < 14:
        return len([name for name in node.output if name]) > 1
    return any(a.name == "training_mode" and a.i for a in node.attribute)


def _drops(node: onnx.NodeProto, opset: int, constants: dict[str, int]) -> bool:
    """Return whether elements may be dropped: the mode is anything but constant false."""
    if opset < 7:
        return not any(a.name == "is_test" and a.i for a in node.attribute)
    if len(node.input) < 3 or not node.input[2]:
        return False
    return bool(constants.get(node.input[2], True))
