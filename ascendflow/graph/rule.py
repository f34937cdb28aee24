"""What a rule is: one named, versioned edit of one kind of node.

A rule edits a node where it is, or puts others in its place (`graph.edit`); either way
the tensors that the node gave and others read keep their names, in the same graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from inspect import unwrap
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import json_text
from ascendflow.errors import InternalError, StageError
from ascendflow.factories import users_code
from ascendflow.graph.given import Given
from ascendflow.graph.nodes import label, opset
from ascendflow.graph.operators import DEFAULT_DOMAINS
from ascendflow.graph.selection import EVERYTHING, Selection
from ascendflow.graph.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

    from ascendflow.documents.rewrite_log import Effect


@dataclass(frozen=True)
class Applied:
    """A node was changed; `before` and `after` name what, as plain JSON data."""

    node: ir.Node
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class Skipped:
    """A node was left alone, with the reason in words."""

    node: ir.Node
    reason: str


Finding = Applied | Skipped
_ONE = "apply must yield one Applied or one Skipped"


class Rule(ABC):
    """Edits nodes of certain types; subclasses write `apply`, this class checks it.

    Attributes:
        name: what a manifest writes.
        version: for people: logs and reports say `name@version`. Raised where a released
            rule comes to do something else. What runs again does not hang on it: the code
            of every rule, or the user's file, is in the stage's key.
        op_types: ONNX operator types (default domain) that `apply` is called with.
        effect: what the rule promises of every output: `exact` (the same bits),
            `equivalent` (within 1e-5 of the output's range) or `lossy`.
        file: the user's file that it is from, relative to the pipeline folder; None for
            ascendflow's own.
        arguments: what a manifest must give beside the rule's name
            (`vocabulary.RULE_ARGUMENTS`).
    """

    name: ClassVar[str]
    version: ClassVar[int]
    op_types: ClassVar[frozenset[str]]
    effect: ClassVar[Effect]
    file: str | None = None
    arguments: ClassVar[frozenset[str]] = frozenset()

    def configured(self, arguments: Mapping[str, Any]) -> Rule:
        """Return the rule as it works with `arguments`.

        Raises:
            StageError: it takes others, or one of them will not do.
        """
        if arguments.keys() != self.arguments:
            wanted = ", ".join(sorted(self.arguments)) or "none"
            given = ", ".join(sorted(arguments)) or "none"
            raise StageError(
                f"rewrite: rule {self.name!r} takes as arguments {wanted}; given: {given}",
                hint="write them beside the rule's name in the manifest",
            )
        return self

    @abstractmethod
    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Edit one node in place, or say why not.

        Args:
            node: a node whose `op_type` is in `op_types` and whose `version` is the
                opset it is read in. The tensors it gives keep their names, but one that
                nothing reads may go; nodes that take its place are named by `graph.edit`.

        Yields:
            One `Applied` or one `Skipped`, never both.
        """

    def candidates(self, model: ir.Model) -> list[ir.Node]:
        """List the nodes of this rule's types in graph order, those in subgraphs too."""
        return [
            node
            for node in model.graph.all_nodes()
            if node.op_type in self.op_types and node.domain in DEFAULT_DOMAINS
        ]

    def against(self, node: ir.Node, model: ir.Model) -> list[ir.Node]:  # noqa: ARG002
        """List the nodes to edit where a target computes `node` otherwise than ONNX.

        That is the node itself, unless a rule says which others are to blame for it.
        """
        return [node] if node.op_type in self.op_types else []

    def __call__(self, model: ir.Model, selection: Selection = EVERYTHING) -> list[Finding]:
        """Apply the rule to the selected nodes of `model`.

        Raises:
            InternalError: `apply` broke the contract of a rule.
            StageError: the same of a user's own rule, or it raised.
        """
        nodes = [n for n in self.candidates(model) if selection.includes(label(n))]
        around = self._around(model, len(nodes))
        return [self._at(node, model, around) for node in nodes]

    def at(self, node: ir.Node, model: ir.Model) -> Finding:
        """Apply the rule to one node of `model`, one of its `candidates`.

        Raises:
            InternalError, StageError: as when it is called.
        """
        return self._at(node, model, self._around(model, 1))

    def _around(self, model: ir.Model, edits: int) -> Surroundings | None:
        """Return what a user's rule is to leave alone; ascendflow's own are tested."""
        return None if self.file is None else Surroundings(model, edits)

    def _at(self, node: ir.Node, model: ir.Model, around: Surroundings | None) -> Finding:
        node.version = opset(node, model)
        name, given = label(node), {value: value.name for value in node.outputs}
        if around is not None and (fault := around.why_touched(node)) is not None:
            raise self._broken(f"rule {self.name!r}, before node {name!r}: {fault}")
        with self._whose_fault(name):  # what a finding holds may raise where it is read
            finding, fault = self._tried(node)
            if around is not None:
                is_bad = fault is not None
                fault = around.why_changed(node, given, now=is_bad) or fault
        if finding is None or fault is not None:
            raise self._broken(f"rule {self.name!r}, node {name!r}: {fault}")
        return finding

    def _tried(self, node: ir.Node) -> tuple[Finding | None, str | None]:
        """Apply the rule; return the first finding, and how it broke its contract."""
        graph, before = node.graph, _Picture.of(node)
        outputs = [Given.of(value) for value in node.outputs]
        given: object = self.apply(node)
        if not isinstance(given, Iterable):
            what = None if given is None else type(given).__name__
            return None, f"returned {what}: {_ONE}"
        # One that never ends is not waited for.
        findings = list(islice(given, 2))
        if node.graph is None:
            fault = _why_badly_replaced(graph, outputs, findings, node)
        else:
            fault = _why_broken(before, _Picture.of(node), findings, node)
        if not findings:
            return None, fault
        return findings[0], fault or _why_not_told(findings[0])

    def _whose_fault(self, node: str | None) -> AbstractContextManager[None]:
        if self.file is None:
            return nullcontext()
        return users_code(f"{self.file}: rule {self.name!r}", f"on node {node!r}")

    def _broken(self, fault: str) -> Exception:
        if self.file is None:
            return InternalError(fault)
        line = unwrap(type(self).apply).__code__.co_firstlineno
        hint = "docs/user-code.md says what a rule may do"
        return StageError(f"{self.file}:{line}: {fault}", hint=hint)


@dataclass(frozen=True)
class _Picture:
    """What identifies a node, and what a rule may change about it."""

    name: str | None
    op_type: str
    outputs: tuple[str | None, ...]
    graph: int
    content: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, node: ir.Node) -> _Picture:
        return cls(
            node.name,
            node.op_type,
            tuple(value.name for value in node.outputs),
            id(node.graph),
            (
                tuple(None if value is None else value.name for value in node.inputs),
                tuple(
                    sorted(
                        (k, str(a.type), str(a.value)) for k, a in node.attributes.items()
                    )
                ),
            ),
        )


def _why_broken(
    before: _Picture, after: _Picture, findings: list[Finding], node: ir.Node
) -> str | None:
    """Return how `apply` broke its contract on `node`, or None."""
    if len(findings) != 1:
        return f"yielded {len(findings)} findings, not one: {_ONE}"
    finding = findings[0]
    if (fault := _why_not_about(node, finding)) is not None:
        return fault
    if (before.name, before.outputs) != (after.name, after.outputs):
        return f"renamed {(before.name, *before.outputs)} to {(after.name, *after.outputs)}"
    if before.graph != after.graph:
        return "moved the node to another graph"
    is_edited = (before.op_type, before.content) != (after.op_type, after.content)
    return _why_not_as_told(node, finding, is_edited=is_edited)


def _why_not_as_told(node: ir.Node, finding: Finding, *, is_edited: bool) -> str | None:
    """Return how `finding` says something else than what became of `node`, or None."""
    if is_edited == isinstance(finding, Applied):
        return None
    if is_edited:
        return f"yielded Skipped and edited {label(node)!r}: yield Applied"
    return (
        f"yielded Applied and left {label(node)!r} as it was: edit it, or call "
        "put_in_place of what takes its place"
    )


def _why_not_about(node: ir.Node, finding: object) -> str | None:
    """Return why `finding` is none, or not of `node`, or None."""
    if not isinstance(finding, Applied | Skipped):
        return f"yielded {finding!r}, which is neither Applied nor Skipped"
    if finding.node is not node:
        other = finding.node
        called = repr(label(other)) if isinstance(other, type(node)) else repr(other)
        return f"yielded a finding about {called}"
    return None


def _why_not_told(finding: Finding) -> str | None:
    """Return why a finding cannot be written down, or None."""
    if isinstance(finding, Skipped):
        is_text = isinstance(finding.reason, str) and finding.reason
        return None if is_text else f"skipped for {finding.reason!r}, which is no reason"
    try:
        json_text({"before": dict(finding.before), "after": dict(finding.after)})
    except (TypeError, ValueError) as error:
        return f"`before` and `after` are no JSON data: {error}"
    return None


def _why_badly_replaced(
    graph: ir.Graph | ir.Function | None,
    outputs: list[Given],
    findings: list[Finding],
    node: ir.Node,
) -> str | None:
    """Return how `apply` broke its contract where it put others in the node's place."""
    if len(findings) != 1 or not isinstance(findings[0], Applied):
        return f"took the node out of its graph and yielded {findings}"
    if (fault := _why_not_about(node, findings[0])) is not None:
        return fault
    for each in outputs:
        if each.value.uses() or each.value.is_graph_output():
            return f"left uses of {each.name!r}, which no node gives any more"
    assert graph is not None  # noqa: S101, a candidate is in a graph
    lost = [str(each.name) for each in outputs if each.is_lost(graph)]
    return f"lost the tensors {', '.join(lost)}" if lost else None
