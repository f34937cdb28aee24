"""What a rule may change beside its node; the rest is in the test of users' rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from ascendflow.errors import StageError
from ascendflow.graph import surroundings
from ascendflow.graph.edit import Chain
from ascendflow.graph.rule import Applied, Rule
from ascendflow.graph.surroundings import Surroundings
from tests.models import model, node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


def leaky(count: int) -> ir.Model:
    """Make `count` LeakyRelu, named by their number, in a row, and a Neg behind them."""
    nodes = [node("LeakyRelu", [f"t{n}"], [f"t{n + 1}"], name=str(n)) for n in range(count)]
    nodes.append(node("Neg", [f"t{count}"], ["y"], name="end"))
    return ir.from_proto(model(nodes, [("t0", [2])], [("y", [2])]))


class Steeper(Rule):
    """A user's rule that puts Elu in the place of each, and may do more."""

    name = "steeper"
    version = 1
    op_types = frozenset({"LeakyRelu"})
    effect = "lossy"
    file = "own.py"

    def __init__(self, more: Callable[[str, ir.Node], None] = lambda *_: None) -> None:
        self._more = more

    def apply(self, node: ir.Node) -> Iterator[Any]:
        self._more(str(node.name), node)
        chain = Chain(node)
        chain("Elu", [node.inputs[0]], {"alpha": 0.5})
        chain.put_in_place()
        yield Applied(node, {}, {})


MANY = 50


def test_many_edits_in_a_row_are_no_matter() -> None:
    made = leaky(MANY)

    assert len(Steeper()(made)) == MANY
    assert [each.op_type for each in made.graph] == ["Elu"] * MANY + ["Neg"]


@pytest.mark.parametrize(
    ("victim", "told"),
    [
        pytest.param("31", r"before node '31': edited another node too, '31'", id="next"),
        pytest.param("40", r"edited another node too, '40' \(LeakyRelu\)", id="later"),
        pytest.param("end", r"edited another node too, 'end' \(Neg\)", id="no-candidate"),
    ],
)
def test_an_edit_among_many_is_still_found_out(victim: str, told: str) -> None:
    made = leaky(MANY)
    nodes = {each.name: each for each in made.graph}

    def elsewhere(name: str, _: ir.Node) -> None:
        if name == "30":
            nodes[victim].attributes["mark"] = ir.AttrInt64("mark", 1)

    with pytest.raises(StageError, match=told):
        Steeper(elsewhere)(made)


def test_what_was_edited_before_is_another_node_too() -> None:
    class Marking(Steeper):
        def apply(self, node: ir.Node) -> Iterator[Any]:
            self._more(str(node.name), node)
            node.attributes["alpha"] = ir.AttrFloat32("alpha", 0.5)
            yield Applied(node, {}, {})

    made = leaky(MANY)
    nodes = {each.name: each for each in made.graph}

    def back(name: str, _: ir.Node) -> None:
        if name == "30":
            nodes["29"].attributes["mark"] = ir.AttrInt64("mark", 1)

    told = "edited another node too, '29' .*; here, or at one of the [0-9]+ nodes before"
    with pytest.raises(StageError, match=told):
        Marking(back)(made)


def test_looks_grow_with_the_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    picture = surroundings._picture

    def counted(node: ir.Node) -> Any:
        taken.append(str(node.name))
        return picture(node)

    monkeypatch.setattr(surroundings, "_picture", counted)
    for count in (100, 200):
        taken.clear()
        Steeper()(leaky(count))
        assert len(taken) < 3 * (surroundings.LOOKS + 1) * (count + 1)
