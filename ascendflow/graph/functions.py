"""How many nodes a model's local functions stand for, asked before they are spelled out.

A file of two kilobytes can hold thirty functions that each call the one before twice. Shape
inference and the inliner both walk through every call, and would not end.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.traverse import subgraphs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import onnx

MOST_NODES = 1 << 18
"""Of a model whose functions are spelled out; inference and inlining take a second."""

_Key = tuple[str, str, str]
"""Domain, name and overload of a function, or of what a node calls."""


def why_not_spelled_out(model: onnx.ModelProto) -> str | None:
    """Return why the calls of local functions cannot be followed, or None."""
    bodies = {_key(f.domain, f.name, f.overload): f.node for f in model.functions}
    called = {key: list(_called(nodes)) for key, nodes in bodies.items()}
    calls = {key: bodies.keys() & set(each) for key, each in called.items()}
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        circle = " -> ".join(map(_spelled, reversed(error.args[1])))
        return f"a function calls itself: {circle}; ONNX allows no recursion"
    sizes: dict[_Key, int] = {}
    for key in order:
        sizes[key] = sum(1 + sizes.get(each, 0) for each in called[key])
        if sizes[key] > MOST_NODES:
            return f"function {_spelled(key)!r} stands for {_too_many(sizes[key])}"
    return _why_graph_is_too_large(model, sizes)


def _why_graph_is_too_large(model: onnx.ModelProto, sizes: dict[_Key, int]) -> str | None:
    shares = dict.fromkeys(sizes, 0)
    for each in _called(model.graph.node) if sizes else ():
        if each in shares:
            shares[each] += sizes[each]
    total = sum(shares.values())
    if total <= MOST_NODES:
        return None
    largest = max(shares, key=lambda key: shares[key])
    return (
        f"the graph's calls of functions, most of all of {_spelled(largest)!r}, stand for "
        f"{_too_many(total)}"
    )


def _too_many(count: int) -> str:
    return f"{count} nodes where it is spelled out, of at most {MOST_NODES}"


def _called(nodes: Iterable[onnx.NodeProto]) -> Iterator[_Key]:
    """Give what each node calls, a plain operator too; nodes of sub-graphs as well."""
    for node in nodes:
        yield _key(node.domain, node.op_type, node.overload)
        for inner in subgraphs_of(node):
            yield from _called(inner.node)


def _key(domain: str, name: str, overload: str) -> _Key:
    return ("" if domain in DEFAULT_DOMAINS else domain, name, overload)


def _spelled(key: _Key) -> str:
    domain, name, overload = key
    return "::".join(filter(None, (domain or "ai.onnx", name, overload)))
