"""ONNX models whose graphs branch, or hold tensors in sequences, each built in code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from tests.exported_models import FLOAT, constant, model, node, value

if TYPE_CHECKING:
    import onnx


def choice(**branches: list[Any]) -> Any:
    """Make If(c) -> y; each branch is a list of nodes, the last of which gives it."""
    graphs = {
        f"{name}_branch": helper.make_graph(
            nodes, name, [], [value(nodes[-1].output[0], [2])]
        )
        for name, nodes in branches.items()
    }
    return node("If", ["c"], ["y"], name="if0", **graphs)


def number(name: str, *numbers: float) -> Any:
    return node("Constant", [], [name], value=constant(f"{name}_value", numbers))


def constant_condition(*, holds: bool) -> onnx.ModelProto:
    """Z = x + ([1, 2] if holds else [3, 4]), the condition being an initializer."""
    decided = choice(then=[number("t", 1, 2)], **{"else": [number("e", 3, 4)]})
    return model(
        [decided, node("Add", ["y", "x"], ["z"])],
        [value("x", [2])],
        [value("z", [2])],
        [constant("c", holds, np.bool_)],
    )


def condition_fed() -> onnx.ModelProto:
    """Y = [1, 2] if c else [3, 4]; there is no other input."""
    decided = choice(then=[number("t", 1, 2)], **{"else": [number("e", 3, 4)]})
    return model([decided], [value("c", [], TensorProto.BOOL)], [value("y", [2])])


def condition_computed() -> onnx.ModelProto:
    """Y = -x if sum(x) > 0 else x + [3, 4]; the branches read the graph around them."""
    decided = choice(
        then=[node("Neg", ["x"], ["t"])],
        **{"else": [number("k", 3, 4), node("Add", ["x", "k"], ["e"])]},
    )
    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["c"]),
        decided,
    ]
    return model(nodes, [value("x", [2])], [value("y", [2])], [constant("zero", 0)])


def sequence_filled() -> onnx.ModelProto:
    """Y = concat(x, -x), through a sequence that grows one by one."""
    nodes = [
        node("SequenceEmpty", [], ["s0"], dtype=FLOAT),
        node("SequenceInsert", ["s0", "x"], ["s1"]),
        node("Neg", ["x"], ["nx"]),
        node("SequenceInsert", ["s1", "nx"], ["s2"]),
        node("ConcatFromSequence", ["s2"], ["y"], axis=0),
    ]
    return model(nodes, [value("x", [2])], [value("y", [4])])


def sequence_of_constants() -> onnx.ModelProto:
    """Y = x + [5, 6], taken from a sequence that a simplifier can fold."""
    nodes = [
        number("a", 1, 2),
        number("b", 5, 6),
        node("SequenceConstruct", ["a", "b"], ["s"]),
        node("SequenceAt", ["s", "one"], ["k"]),
        node("Add", ["x", "k"], ["y"]),
    ]
    one = constant("one", 1, np.int64)
    return model(nodes, [value("x", [2])], [value("y", [2])], [one])
