"""Which nodes a setting names: by their names, or `OpType::` and a GE operator."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ascendflow.cann.kernels import operators
from ascendflow.cann.operators import target_op
from ascendflow.cann.settings import OP_TYPE
from ascendflow.errors import StageError
from ascendflow.graph.nodes import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import onnx_ir as ir

    from ascendflow.cann.settings import CustomTypes, Settings


@dataclass(frozen=True)
class Subjects:
    """The settings that name nodes, all of which were found.

    `ATC` takes a node's own entry before that of its operator.
    """

    settings: Settings

    @classmethod
    def of(cls, nodes: Sequence[ir.Node], settings: Settings) -> Subjects:
        """Check the names against a graph.

        ATC itself only warns where keep_dtype names nothing (GE `keep_dtype_option.cc`).

        Raises:
            StageError: something is named that is not there; it names the nearest.
        """
        named = {"keep_dtype": settings.keep_dtype}
        named["customize_dtypes"] = tuple(settings.customize_dtypes)
        if any(named.values()) or settings.mixlist or settings.implmode_types:
            names = {label(node): node.op_type for node in nodes}
            types = {_operator_of(node) for node in nodes}
            for key, subjects in named.items():
                for subject in subjects:
                    _check(key, subject, names, types)
            known = types | operators() | {"Cast", "ReduceMean", "Gelu"}
            for operator in settings.mixlist:
                _check_type("modify_mixlist", operator, known)
            for operator in settings.implmode_types:
                _check_type("optypelist_for_implmode", operator, known)
        return cls(settings)

    def is_kept(self, node: ir.Node) -> bool:
        """Return whether keep_dtype names `node` or its operator."""
        kept = self.settings.keep_dtype
        return bool(kept) and (label(node) in kept or _typed(node) in kept)

    def names(self, node: ir.Node) -> bool:
        """Return whether any setting says something of `node`."""
        return self.is_kept(node) or self.custom(node) is not None

    def custom(self, node: ir.Node) -> CustomTypes | None:
        """Return the types that customize_dtypes asks for."""
        custom = self.settings.customize_dtypes
        if not custom:
            return None
        return custom.get(label(node)) or custom.get(_typed(node))


def _operator_of(node: ir.Node) -> str:
    """Name the GE operator of `node`, or where it is not known, ONNX's."""
    return target_op(node) or node.op_type


def _typed(node: ir.Node) -> str:
    return OP_TYPE + _operator_of(node)


def _check(key: str, subject: str, names: Mapping[str, str], types: Iterable[str]) -> None:
    if subject.startswith(OP_TYPE):
        _check_type(key, subject.removeprefix(OP_TYPE), types)
    elif subject not in names:
        raise StageError(
            f"convert.{key}: no node is called {subject!r}", hint=_nearest(subject, names)
        )


def _check_type(key: str, operator: str, known: Iterable[str]) -> None:
    if operator not in known:
        near = get_close_matches(operator, sorted(known), n=1, cutoff=0.5)
        raise StageError(
            f"convert.{key}: no node becomes the operator {operator!r}",
            hint=f"did you mean {near[0]!r}?" if near else WHERE,
        )


WHERE = (
    "names are those of the simplified and rewritten model: `ascendflow precision FILE "
    "--simplify`, or `ascendflow precision build/MODEL/rewrite/rewritten/model.onnx` of a "
    "pipeline, lists them and their operators"
)


def _nearest(name: str, names: Mapping[str, str]) -> str:
    """Offer the nearest node, by its operator; none where `name` tells of another one.

    What was written may be right for the file as delivered, whose node is fused or
    renamed since: it may be any node now, or none.

    Args:
        name: what was written.
        names: of the nodes that there are -> their ONNX operators.
    """
    told = _told_operator(name)
    same = [each for each, operator in names.items() if told in (None, operator)]
    near = get_close_matches(name, sorted(same), n=1, cutoff=0.5)
    if not near:
        return WHERE
    return f"did you mean {near[0]!r}, of operator {names[near[0]]}? {WHERE}"


def _told_operator(name: str) -> str | None:
    """Return the ONNX operator that exporters put at the end of a node's name, if one."""
    import onnx

    words = name.rpartition("/")[2].replace(".", "_").split("_")
    return next((word for word in reversed(words) if onnx.defs.has(word)), None)
