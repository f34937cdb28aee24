"""A rule that breaks its contract is caught by the base class."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir
import pytest

from ascendflow.errors import InternalError
from ascendflow.graph.edit import Chain
from ascendflow.graph.rule import Applied, Finding, Rule, Skipped
from ascendflow.graph.selection import Selection
from tests.models import model, node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ascendflow.documents.rewrite_log import Effect

PLAIN = model(
    [node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["b"]), node("Relu", ["b"], ["y"])],
    [("x", [2])],
    [("y", [2])],
)


class Scripted(Rule):
    """Does to each Relu what a test says."""

    name: ClassVar[str] = "scripted"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"Relu"})
    effect: ClassVar[Effect] = "exact"

    def __init__(self, script: Callable[[ir.Node], list[Finding]]) -> None:
        self._script = script

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Run the script."""
        yield from self._script(node)


def edit(node: ir.Node) -> None:
    node.attributes["mark"] = ir.AttrInt64("mark", 1)


def renames(node: ir.Node) -> list[Finding]:
    node.name = "another"
    return [Applied(node, {}, {})]


def renames_output(node: ir.Node) -> list[Finding]:
    node.outputs[0].name = "another"
    return [Applied(node, {}, {})]


def replaces(node: ir.Node) -> list[Finding]:
    edit(node)
    assert node.graph is not None
    node.graph.remove(node)
    return [Applied(node, {}, {})]


def loses_a_name(node: ir.Node) -> list[Finding]:
    chain = Chain(node)
    value = chain("Relu", [node.inputs[0]])
    chain.put_in_place()
    value.name = "another"
    return [Applied(node, {}, {})]


def lies_about_skipping(node: ir.Node) -> list[Finding]:
    edit(node)
    return [Skipped(node, "nothing to do")]


def changes_nothing(node: ir.Node) -> list[Finding]:
    return [Applied(node, {}, {})]


def says_nothing(_: ir.Node) -> list[Finding]:
    return []


def says_both(node: ir.Node) -> list[Finding]:
    edit(node)
    return [Applied(node, {}, {}), Skipped(node, "why")]


def speaks_of_another(_: ir.Node) -> list[Finding]:
    return [Skipped(ir.Node("", "Relu", [], name="other"), "why")]


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (renames, "renamed"),
        (renames_output, "renamed"),
        (replaces, "left uses of 'a', which no node gives any more"),
        (loses_a_name, "lost the tensors a"),
        (lies_about_skipping, "yielded Skipped and edited 'a'"),
        (changes_nothing, "yielded Applied and left 'a' as it was: edit it, or call put"),
        (says_nothing, "0 findings"),
        (says_both, "2 findings"),
        (speaks_of_another, "a finding about 'other'"),
        (lambda _: [Skipped(None, "why")], "a finding about None"),  # type: ignore[arg-type]
        (lambda _: [None], "yielded None, which is neither"),
    ],
)
def test_a_broken_rule_is_an_internal_error_that_names_it(
    script: Callable[[ir.Node], list[Finding]], fault: str
) -> None:
    with pytest.raises(InternalError, match=f"rule 'scripted', node 'a': .*{fault}"):
        Scripted(script)(ir.from_proto(PLAIN))


def honest(node: ir.Node) -> list[Finding]:
    edit(node)
    return [Applied(node, {}, {"mark": 1})]


def test_a_rule_sees_nodes_of_its_types_only_in_graph_order() -> None:
    found = Scripted(honest)(ir.from_proto(PLAIN))

    assert [each.node.name for each in found] == ["a", "y"]


def test_a_selection_limits_it() -> None:
    found = Scripted(honest)(ir.from_proto(PLAIN), Selection(("y",)))

    assert [each.node.name for each in found] == ["y"]


@pytest.mark.parametrize(
    ("name", "pattern", "included"),
    [
        ("/up3/Resize", "/up3/Resize", True),
        ("/up3/Resize", "/up*/Resize", True),
        ("/up3/Resize", "/up3/resize", False),
        ("a[0]", "a[0]", True),
        ("a0", "a[0]", True),
    ],
)
def test_a_selector_is_a_name_or_a_glob(name: str, pattern: str, included: bool) -> None:
    assert Selection((pattern,)).includes(name) is included
