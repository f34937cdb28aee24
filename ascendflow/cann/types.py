"""In which types the nodes of a graph run on a target, and why.

Nodes are asked in the graph's order, since a gray operator follows what its producers
were given. Cast is never forced (GE `op_info_common.cc` IsDtypeSensitiveOp); a gray
operator looks through a Cast from fp16 to fp32, unless Cast is black.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import onnx_ir as ir

from ascendflow.atc_words import FORCE_FP16
from ascendflow.cann.detection import Found
from ascendflow.cann.kernels import (
    HALF,
    NOT_ON_AI_CPU,
    ON_AI_CPU,
    WIDE,
    Column,
    Dtype,
    kernel,
)
from ascendflow.cann.operators import is_constant, target_op
from ascendflow.cann.precision import Case, Tensor, choose_column, is_refused
from ascendflow.cann.reasons import TAKE_OUT, is_kept_alone, why, why_refused
from ascendflow.cann.subjects import Subjects
from ascendflow.graph.dtypes import FLOATS
from ascendflow.graph.nodes import label
from ascendflow.graph.operators import DEFAULT_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.settings import CustomTypes
    from ascendflow.cann.target import Target

PASSING = frozenset({"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that GE runs without a kernel: they give on what they are given. For such FE
follows the producer (MatchByDifferentMode, kAttrInheritDtypeFromPredecessor), medium."""

_FIRST_INPUT_ONLY = frozenset({"Dropout", "Resize", "Upsample"})
_NO_INPUT = frozenset({"Shape", "Size"})


@dataclass(frozen=True)
class Choice:
    """What was chosen for one node.

    Attributes:
        operator: GE operator, where it is known.
        column: types of its floating inputs and outputs; None where it has no floats,
            where it is a Cast, and where nothing runs it.
        reason: why, in words, without the node's name.
        problem: AI Core refuses it, and AI CPU has no kernel or none that is known.
        only_half: AI Core's kernel has float16 only.
        keepable: with keep_dtype it would run in other types than it does.
    """

    operator: str | None
    column: Column | None
    reason: str
    problem: Found | None = None
    only_half: bool = False
    keepable: bool = False

    @property
    def half(self) -> bool:
        """Whether the kernel gets its data as fp16."""
        return self.column is not None and self.column.operand == "float16"


def floating(node: ir.Node) -> Iterator[ir.Value]:
    """Give the floating tensors that `node` reads and makes."""
    for value in (*node.inputs, *node.outputs):
        if value is not None and value.dtype in FLOATS:
            yield value


def runs_in_half(node: ir.Node, conditions: Conditions) -> bool:
    """Return whether the kernel of `node`, any of the model, gets its data as fp16."""
    choice = conditions.choices.get(node)  # none in the body of a function
    return choice is not None and choice.half


def data_inputs(node: ir.Node) -> range:
    """Return which inputs the kernel computes with; the others only describe the work."""
    if node.op_type in _NO_INPUT:
        return range(0)
    given = len(node.inputs)
    return range(min(1, given) if node.op_type in _FIRST_INPUT_ONLY else given)


def choose(model: ir.Model, target: Target) -> dict[ir.Node, Choice]:
    """Choose the types of every node of ONNX's own domain, subgraphs included.

    Raises:
        StageError: a setting names nodes or operators that are not there.
    """
    nodes = [n for n in model.graph.all_nodes() if n.domain in DEFAULT_DOMAINS]
    chooser = _Chooser(target, Subjects.of(nodes, target.settings))
    for node in nodes:
        chooser.choices[node] = chooser.choice(node)
    return chooser.choices


class _Chooser:
    """Chooses node by node, knowing what was chosen before."""

    def __init__(self, target: Target, subjects: Subjects) -> None:
        self._target = target
        self._mode = target.settings.mode
        self._subjects = subjects
        self.choices: dict[ir.Node, Choice] = {}

    def choice(self, node: ir.Node) -> Choice:
        operator = target_op(node)
        if not any(True for _ in floating(node)):
            return Choice(operator, None, "no floating tensors")
        if node.op_type == "Cast":
            return Choice(operator, None, "Cast keeps the types that the graph asks for")
        if node.op_type == "Constant":
            return Choice(operator, _as(_dtype(node.outputs[0])), "a constant")
        is_passing = node.op_type in PASSING and self._mode != FORCE_FP16
        if is_passing and not self._subjects.names(node):
            return self._passed_on(node, operator)
        return self._of_kernel(node, operator)

    def _passed_on(self, node: ir.Node, operator: str | None) -> Choice:
        tensors = self._inputs(node)
        if not tensors:
            return Choice(operator, _as(_dtype(node.outputs[0])), "no floating input")
        given = tensors[0][1].given
        return Choice(operator, _as(given), f"passes on {given}, as it comes")

    def _of_kernel(self, node: ir.Node, operator: str | None) -> Choice:
        case, producers = self._case(node, operator)
        if not case.tensors:
            return Choice(operator, None, "computes with no floating tensors")
        custom = self._subjects.custom(node)
        if is_refused(case):
            return self._refused(case)
        candidates = case.kernel.columns
        if custom is not None:
            candidates = _filtered(node, candidates, custom)
        if not candidates:
            return _no_such_column(case, str(custom))
        column = choose_column(case, candidates)
        only_half = all(each.operand == "float16" for each in case.kernel.columns)
        reason = why(case, column, producers, None if custom is None else str(custom))
        keepable = custom is None and self._kept(case) not in (None, column)
        return Choice(operator, column, reason, only_half=only_half, keepable=keepable)

    def _kept(self, case: Case) -> Column | None:
        """Return the types that keep_dtype would give a node, or None: it is refused."""
        kept = replace(case, is_kept=True)
        if is_refused(kept):
            return self._refused(kept).column
        return choose_column(kept, kept.kernel.columns)

    def _case(self, node: ir.Node, operator: str | None) -> tuple[Case, list[str]]:
        """Return what to choose for, and the producers' names in FE's order of inputs."""
        found = kernel(operator, self._target.soc)
        mix = self._target.settings.mixlist.get(operator or node.op_type)
        if mix is not None:
            found = replace(found, mix=mix)
        inputs = self._inputs(node)
        outputs = [
            Tensor(_dtype(value), is_input=False, given=_dtype(value))
            for value in node.outputs
            if value.dtype in FLOATS
        ]
        tensors = [*(tensor for _, tensor in inputs), *outputs]
        kept = self._subjects.is_kept(node)
        case = Case(operator, found, tensors, self._mode, is_kept=kept)
        return case, [name for name, _ in inputs]

    def _refused(self, case: Case) -> Choice:
        """AI Core refuses; AI CPU has a kernel, or none, or nothing is known of it."""
        reason = why_refused(case, self._target.soc)
        operator = case.operator
        advice = None
        if is_kept_alone(case) and not is_refused(replace(case, is_kept=False)):
            advice = TAKE_OUT
        if operator in ON_AI_CPU:
            column = _as(case.tensors[0].dtype)
            reason = f"{reason}; AI CPU runs it in {column.operand}"
            return Choice(operator, column, reason, only_half=True)
        if operator in NOT_ON_AI_CPU:
            reason = f"{reason}, nor has AI CPU"
            problem = Found(reason, "rejected", advice=advice)
            return Choice(operator, None, reason, problem)
        reason = f"{reason}; AI CPU's is not known"
        return Choice(operator, None, reason, Found(reason, "unknown", advice=advice))

    def _inputs(self, node: ir.Node) -> list[tuple[str, Tensor]]:
        """Return producers' names and tensors, constants last (SortInputBySequence)."""
        found: list[tuple[bool, str, Tensor]] = []
        for index in data_inputs(node):
            value = node.inputs[index]
            if value is None or value.dtype not in FLOATS:
                continue
            name, given = self._given(value)
            tensor = Tensor(_dtype(value), True, given, is_first=index == 0)
            found.append((is_constant(value), name, tensor))
        found.sort(key=lambda each: each[0])
        return [(name, tensor) for _, name, tensor in found]

    def _given(self, value: ir.Value) -> tuple[str, Dtype]:
        """Return who gives a tensor, and in which type on the target."""
        producer = value.producer()
        if is_constant(value):
            return f"constant {value.name!r}", _dtype(value)
        if producer is None:
            return f"input {value.name!r}", _dtype(value)
        if producer.op_type == "Cast" and producer.inputs[0] is not None:
            return self._through_cast(producer, value)
        choice = self.choices.get(producer)
        if choice is None or choice.column is None:
            return repr(label(producer)), _dtype(value)
        return repr(label(producer)), choice.column.result

    def _through_cast(self, cast: ir.Node, value: ir.Value) -> tuple[str, Dtype]:
        source = cast.inputs[0]
        is_black = self._target.settings.mixlist.get("Cast") == "black"
        widens = (
            source is not None
            and source.dtype == ir.DataType.FLOAT16
            and value.dtype == ir.DataType.FLOAT
        )
        if source is None or not widens or is_black:
            return repr(label(cast)), _dtype(value)
        name, given = self._given(source)
        return f"{name} (through {label(cast)!r})", given


def _no_such_column(case: Case, custom: str) -> Choice:
    offered = ", ".join(f"{c.operand} -> {c.result}" for c in case.kernel.columns)
    reason = f"customize_dtypes asks {case.operator} for {custom}; it has {offered}"
    problem = Found(reason, "rejected" if case.kernel.is_read else "unknown")
    return Choice(case.operator, None, reason, problem)


def _filtered(
    node: ir.Node, columns: tuple[Column, ...], custom: CustomTypes
) -> tuple[Column, ...]:
    """Leave the columns that have the types asked for (FilterDtypeIndexByCustom)."""
    inputs, outputs = (
        {
            dtype
            for value, dtype in zip(values, types, strict=False)
            if dtype is not None and value is not None and value.dtype in FLOATS
        }
        for values, types in ((node.inputs, custom.inputs), (node.outputs, custom.outputs))
    )
    return tuple(
        each for each in columns if inputs <= {each.operand} and outputs <= {each.result}
    )


def _dtype(value: ir.Value) -> Dtype:
    return "float16" if value.dtype == ir.DataType.FLOAT16 else "float32"


def _as(dtype: Dtype) -> Column:
    return HALF if dtype == "float16" else WIDE
