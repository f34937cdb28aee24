"""What a rule may change beside its node; the rest is in the test of users' rules."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir

from ascendflow.graph.edit import Chain
from ascendflow.graph.surroundings import Surroundings
from tests.models import model, node


def branching() -> ir.Model:
    """Make an If whose branches take the Relu of x, and a Neg behind it."""
    bodies = [
        onnx.helper.make_graph(
            [node("Elu", ["a"], [name], alpha=0.5)],
            name,
            [],
            [onnx.helper.make_tensor_value_info(name, 1, [2])],
        )
        for name in ("yes", "no")
    ]
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("If", ["c"], ["b"], then_branch=bodies[0], else_branch=bodies[1]),
        node("Neg", ["b"], ["y"]),
    ]
    proto = model(nodes, [("x", [2])], [("y", [2])], {"c": np.array(True)})
    return ir.from_proto(proto)


def found(made: ir.Model, name: str) -> ir.Node:
    return next(each for each in made.graph.all_nodes() if each.name == name)


def test_what_is_in_the_node_is_the_nodes() -> None:
    made = branching()
    around = Surroundings(made)

    found(made, "yes").attributes["alpha"] = ir.AttrFloat32("alpha", 2)

    assert around.why_changed(found(made, "b"), {}) is None


def test_a_node_in_a_branch_is_another_to_one_outside() -> None:
    made = branching()
    around = Surroundings(made)

    found(made, "yes").attributes["alpha"] = ir.AttrFloat32("alpha", 2)

    told = around.why_changed(found(made, "a"), {})
    assert told == "edited another node too, 'yes' (Elu)"


def test_readers_in_branches_may_be_given_what_takes_its_place() -> None:
    made = branching()
    around, relu = Surroundings(made), found(made, "a")
    given = {value: value.name for value in relu.outputs}
    chain = Chain(relu)
    chain("Max", [relu.inputs[0], chain.constant("zero", np.float32(0))])
    chain.put_in_place()

    assert around.why_changed(relu, given) is None


def test_readers_given_another_tensor_were_edited() -> None:
    made = branching()
    around, relu = Surroundings(made), found(made, "a")
    given = {value: value.name for value in relu.outputs}

    relu.outputs[0].replace_all_uses_with(made.graph.inputs[0])

    told = around.why_changed(relu, given)
    assert told is not None
    assert told.startswith("edited another node too, ")


def test_each_look_is_what_the_next_is_held_to() -> None:
    made = branching()
    around = Surroundings(made)
    found(made, "y").attributes["mark"] = ir.AttrInt64("mark", 1)

    assert around.why_changed(found(made, "y"), {}) is None
    assert around.why_changed(found(made, "a"), {}) is None
