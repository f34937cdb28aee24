"""Small files whose functions stand for more nodes than anything could walk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.survey import survey
from ascendflow.errors import StageError
from ascendflow.graph.functions import MOST_NODES, why_not_spelled_out
from ascendflow.graph.ingest import accept
from ascendflow.graph.rewrite import rewrite
from ascendflow.tensors import TensorSpec
from tests.emulation import target
from tests.exported_models import node, value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TAKES = [TensorSpec("t0", "float32", (3,))]
SETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def calling(bodies: dict[str, list[str]], called: list[str]) -> onnx.ModelProto:
    """Make functions that call what `bodies` lists in a row, and a graph that does so."""

    def chain(names: list[str]) -> list[onnx.NodeProto]:
        return [
            helper.make_node(
                name,
                [f"t{at}"],
                [f"t{at + 1}"],
                domain="own" if name in bodies else "",
                name=f"call{at}",
            )
            for at, name in enumerate(names)
        ]

    functions = [
        helper.make_function("own", name, ["t0"], [f"t{len(body)}"], chain(body), SETS)
        for name, body in bodies.items()
    ]
    inputs, outputs = [value("t0", [3])], [value(f"t{len(called)}", [3])]
    graph = helper.make_graph(chain(called), "g", inputs, outputs)
    return helper.make_model(graph, ir_version=10, opset_imports=SETS, functions=functions)


def doubling(levels: int) -> onnx.ModelProto:
    """Each function calls the one before it twice: level n stands for 2**n Neg."""
    bodies = {"F0": ["Neg"]}
    bodies |= {f"F{n}": [f"F{n - 1}"] * 2 for n in range(1, levels + 1)}
    return calling(bodies, [f"F{levels}"])


def nested(levels: int) -> onnx.ModelProto:
    """Each function calls the one before it once."""
    bodies = {"F0": ["Neg"]}
    bodies |= {f"F{n}": [f"F{n - 1}"] for n in range(1, levels + 1)}
    return calling(bodies, [f"F{levels}"])


CIRCLE = {"A": ["B"], "B": ["Neg", "A"]}
IN_A_CIRCLE = re.escape("a function calls itself: own::A -> own::B -> own::A")
REFUSED = {
    "doubling": (doubling(30), "function 'own::F17' stands for 393214 nodes .* 262144"),
    "circle": (calling(CIRCLE, ["A"]), rf"{IN_A_CIRCLE}|own::B -> own::A"),
    "itself": (calling({"S": ["S"]}, ["S"]), "own::S -> own::S"),
    "nested": (nested(2000), r"depth exceeds limit \(100\)"),
}


def take_in(file: Path) -> None:
    accept(onnx.load(file), file.name, TAKES, None)


TAKING: dict[str, Callable[[Path], object]] = {
    "lint": lambda file: survey(file, target()),
    "compile": lambda file: Emulator().compile(file, file.with_name("out"), target()),
    "rewrite": lambda file: rewrite(file, file.with_name("edited.onnx"), []),
    "ingest": take_in,
}


@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING.keys())
@pytest.mark.parametrize(("model", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_functions_that_cannot_be_followed_are_refused_wherever_a_file_comes_in(
    tmp_path: Path, model: onnx.ModelProto, said: str, take: Callable[[Path], object]
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(model.SerializeToString())

    with pytest.raises(StageError, match=rf"model\.onnx.*{said}"):
        take(file)


def test_largest_number_of_nodes_is_let_in_and_one_more_is_not() -> None:
    many = {"F": ["Neg"] * (MOST_NODES // 4), "G": ["F"] * 3 + ["Neg"] * 9}

    assert why_not_spelled_out(calling({"F": ["Neg"] * MOST_NODES}, ["F"])) is None
    assert why_not_spelled_out(calling(many, ["G"])) is None
    assert f"'own::F' stands for {MOST_NODES + 1} nodes" in str(
        why_not_spelled_out(calling({"F": ["Neg"] * (MOST_NODES + 1)}, ["F"]))
    )


def test_graph_that_calls_too_often_is_told_which_function_is_most_of_it() -> None:
    bodies = {"F": ["Neg"] * (MOST_NODES // 2), "G": ["Neg"] * 8}
    model = calling(bodies, ["G", "F", "F", "F", "G"])

    reason = str(why_not_spelled_out(model))

    assert "most of all of 'own::F'" in reason
    assert str(3 * (MOST_NODES // 2) + 16) in reason
    assert str(MOST_NODES) in reason


def test_calls_inside_of_a_branch_count() -> None:
    model = doubling(16)
    assert why_not_spelled_out(model) is None
    body = helper.make_graph([model.graph.node[0]], "body", [], [value("t1", [3])])
    branch = node("If", ["is"], ["y"], then_branch=body, else_branch=body)
    model.graph.node[0].CopyFrom(branch)

    assert f"'own::F16', stand for {2 * 196606} nodes" in str(why_not_spelled_out(model))


def test_function_of_ones_own_that_is_called_like_an_operator_is_another() -> None:
    model = calling({"Neg2": ["Abs"]}, ["Neg2"])
    model.functions[0].name = model.graph.node[0].op_type = "Abs"

    assert why_not_spelled_out(model) is None
    assert why_not_spelled_out(calling({}, ["Neg"] * 3)) is None


def test_few_calls_are_followed(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(doubling(6), file)
    model = onnx.load(file)

    accept(model, file.name, TAKES, None)

    assert [each.op_type for each in model.graph.node] == ["Neg"] * 64
    assert model.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert survey(file, target())["totals"]["rejected"] > 0
