"""What a rule is: one named, versioned edit of one kind of node, in place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.errors import InternalError
from ascendflow.graph.nodes import label, opset
from ascendflow.graph.operators import DEFAULT_DOMAINS

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


@dataclass(frozen=True)
class Selection:
    """Which nodes a rule may touch: all, or those that one of `patterns` names.

    Attributes:
        patterns: node names, or globs of them; None selects every node.
    """

    patterns: tuple[str, ...] | None = None

    def includes(self, name: str) -> bool:
        """Return whether a node called `name` is selected."""
        return self.patterns is None or any(matches(name, p) for p in self.patterns)


EVERYTHING = Selection()


def matches(name: str, pattern: str) -> bool:
    """Return whether `pattern` is `name`, or a glob that matches it.

    Equality comes first, since names from exporters may hold `[` and `]`.
    """
    return name == pattern or fnmatchcase(name, pattern)


class Rule(ABC):
    """Edits nodes of certain types; subclasses write `apply`, this class checks it.

    Attributes:
        name: what a manifest writes.
        version: raised when the rule comes to do something else; part of the log.
        op_types: ONNX operator types (default domain) that `apply` is called with.
        effect: what the rule promises of every output: `exact` (the same bits),
            `equivalent` (within 1e-5 of the output's range) or `lossy`.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    op_types: ClassVar[frozenset[str]]
    effect: ClassVar[Effect]

    @abstractmethod
    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Edit one node in place, or say why not.

        Args:
            node: a node whose `op_type` is in `op_types` and whose `version` is the
                opset it is read in. Node and values keep their names.

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

    def __call__(self, model: ir.Model, selection: Selection = EVERYTHING) -> list[Finding]:
        """Apply the rule to the selected nodes of `model`, in place.

        Raises:
            InternalError: `apply` broke the contract of a rule.
        """
        nodes = [n for n in self.candidates(model) if selection.includes(label(n))]
        for node in nodes:
            node.version = opset(node, model)
        return [self._checked(node) for node in nodes]

    def _checked(self, node: ir.Node) -> Finding:
        before = _Picture.of(node)
        findings = list(self.apply(node))
        after = _Picture.of(node)
        if (fault := _why_broken(before, after, findings, node)) is not None:
            raise InternalError(f"rule {self.name!r}, node {before.name!r}: {fault}")
        return findings[0]


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
        return f"yielded {len(findings)} findings, not one"
    finding = findings[0]
    if finding.node is not node:
        return f"yielded a finding about {label(finding.node)!r}"
    if (before.name, before.outputs) != (after.name, after.outputs):
        return f"renamed {(before.name, *before.outputs)} to {(after.name, *after.outputs)}"
    if before.graph != after.graph:
        return "took the node out of its graph; a rule edits in place"
    changed = (before.op_type, before.content) != (after.op_type, after.content)
    if changed != isinstance(finding, Applied):
        return f"changed the node: {changed}, and called it {type(finding).__name__}"
    return None
