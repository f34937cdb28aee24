"""Operators that CANN's parser has no plugin for.

A node is looked up by `domain::opset::operator`; where nothing is registered the model is
refused (E16002 "No ONNX parser is registered for optype", E19010 in older releases). That
goes for nodes inside branches too. Loop and Scan lack a subgraph adapter besides, and the
parser does not read a model's local functions.

Between 6.1 and 8.4 nothing was read, so an operator that is registered at one end only is
`unknown` there. See `ascendflow/cann/registered.py` for what was read. A closed package of
a later release could register more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Found
from ascendflow.cann.deviations.deviation import Conditions, LookedUpDeviation
from ascendflow.cann.registered import registration
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    import onnx_ir as ir


class OpUnregistered(LookedUpDeviation):
    """An operator that no rule spells otherwise."""

    name: ClassVar[str] = "op-unregistered"
    consequences: ClassVar[tuple[Consequence, ...]] = ("rejected", "unknown")
    onnx: ClassVar[str] = "Any operator of any domain may be used; a function defines one."
    cann: ClassVar[str] = (
        "An operator without a registered parser is refused (E16002, E19010)."
    )
    cure: ClassVar[str | None] = None
    advice: ClassVar[str | None] = (
        "spell these nodes in other operators, or cut them off the model"
    )
    source: ClassVar[str] = (
        "GE onnx_parser.cc AdapterOpType; canndev onnx_plugin 2022-06; ops-nn, ops-cv, "
        "ops-math 8.5.0 to master"
    )

    def look_up(
        self, node: ir.Node, model: ir.Model, conditions: Conditions
    ) -> Found | None:
        """Look for a local function, then for a parser."""
        return unregistered(node, model, conditions)


class LoopUnregistered(OpUnregistered):
    """Loop, nowhere registered, and without a subgraph adapter."""

    name: ClassVar[str] = "loop-unregistered"
    cann: ClassVar[str] = "Loop has no parser in any release, nor a subgraph adapter."
    cure: ClassVar[str | None] = "loop-unroll"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"Loop"})


class LayerNormalizationUnregistered(OpUnregistered):
    """LayerNormalization, in ops-nn from 9.2 on only."""

    name: ClassVar[str] = "layer-normalization-unregistered"
    cann: ClassVar[str] = "LayerNormalization has a parser from ops-nn 9.2 on only."
    cure: ClassVar[str | None] = "layer-norm-decompose"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"LayerNormalization"})


class GroupNormalizationUnregistered(OpUnregistered):
    """GroupNormalization, nowhere registered."""

    name: ClassVar[str] = "group-normalization-unregistered"
    cann: ClassVar[str] = "GroupNormalization has no parser in any release."
    cure: ClassVar[str | None] = "group-norm-decompose"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"GroupNormalization"})


class GeluUnregistered(OpUnregistered):
    """Gelu, onnxruntime's own in the opsets that CANN parses."""

    name: ClassVar[str] = "gelu-unregistered"
    cann: ClassVar[str] = (
        "Gelu has no parser in any release; up to opset 18 it is onnxruntime's own."
    )
    cure: ClassVar[str | None] = "gelu-to-erf"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"Gelu"})


class MishUnregistered(OpUnregistered):
    """Mish, in the open repositories from 8.5 on only."""

    name: ClassVar[str] = "mish-unregistered"
    cann: ClassVar[str] = "Mish has a parser from 8.5 on only."
    cure: ClassVar[str | None] = "mish-decompose"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"Mish"})


class CastLikeUnregistered(OpUnregistered):
    """CastLike, in the open repositories from 8.5 on only."""

    name: ClassVar[str] = "cast-like-unregistered"
    cann: ClassVar[str] = "CastLike has a parser from 8.5 on only."
    cure: ClassVar[str | None] = "cast-like-to-cast"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"CastLike"})


class ReduceNormUnregistered(OpUnregistered):
    """ReduceL1 and ReduceL2, whose plugins end at opset 17."""

    name: ClassVar[str] = "reduce-norm-unregistered"
    cann: ClassVar[str] = "ReduceL1 and ReduceL2 have parsers up to opset 17 only."
    cure: ClassVar[str | None] = "reduce-norm-decompose"
    op_types: ClassVar[frozenset[str] | None] = frozenset({"ReduceL1", "ReduceL2"})


def unregistered(node: ir.Node, model: ir.Model, conditions: Conditions) -> Found | None:
    """Return why CANN has no parser for `node` of `model`, None where it has one."""
    if model.functions and node.op_identifier() in model.functions:
        return Found("it calls a local function; inline it", "rejected")
    return _look_up(node, conditions)


def _look_up(node: ir.Node, conditions: Conditions) -> Found | None:
    """Return why `node` has no parser, or None; silent where no opset has one."""
    profile, version = conditions.profile, node.version
    if node.domain not in DEFAULT_DOMAINS:
        spelled = f"{node.domain}::{version}::{node.op_type}"
        options = ", ".join(sorted(node.attributes))
        reason = (
            f"no parser is registered for {spelled}"
            f"{f' with {options}' if options else ''}; only a plugin of yours could be"
        )
        return Found(reason, "rejected")
    low, high = profile.opsets
    if version is None or not low <= version <= high:
        return None  # opset-window
    spelled = f"ai.onnx::{version}::{node.op_type}"
    match registration(node.op_type, version, profile):
        case "absent":
            return Found(f"no parser is registered for {spelled}", "rejected")
        case "unknown":
            reason = (
                f"whether CANN {profile.version} has a parser for {spelled} is not known"
            )
            return Found(reason, "unknown")
        case _:
            return None
