"""Says in words why a column of types was chosen, or why AI Core refuses a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.atc_words import FORCE_FP16
from ascendflow.cann.kernels import CUBE_OPERATORS, MIXED
from ascendflow.cann.precision import ALLOW, FORCE_FP32, KEEP, MIX

if TYPE_CHECKING:
    from ascendflow.cann.kernels import Column
    from ascendflow.cann.precision import Case
    from ascendflow.cann.soc import Soc


UNREAD = "which types its operator takes was not read; "
"""Begins what a reason ends with where a kernel's columns are a guess."""
_BOTH = ("float16", "float32")
TAKE_OUT = "take it out of convert.keep_dtype"
"""What to do about a node that is refused for nothing else."""


def why(case: Case, column: Column, producers: list[str], custom: str | None) -> str:
    """Say why `column` was chosen.

    Args:
        case: what was chosen for.
        column: what was chosen.
        producers: names of what gives its inputs, in FE's order.
        custom: types that customize_dtypes asks for.
    """
    said = f"customize_dtypes: {custom}" if custom else _rule(case, producers)
    kernel = _kernel(case)
    wanted = {each.column_type(column) for each in case.tensors}
    offered = {c.operand for c in case.kernel.columns}
    if len(offered) == 1 and offered & wanted and case.kernel.is_read:
        return f"{said}; {kernel} has {offered.pop()} only"
    mixed = column == MIXED and any(not each.is_input for each in case.tensors)
    if mixed:
        return f"{said}; {kernel} takes float16 and gives float32"
    return said if case.kernel.is_read else f"{said}; {_unread(case)}"


_RULES = {
    FORCE_FP16: FORCE_FP16,
    KEEP: "must_keep_origin_dtype: the graph's types or wider",
    FORCE_FP32: "force_fp32",
}


def _rule(case: Case, producers: list[str]) -> str:
    if case.is_kept and case.mode != KEEP:
        return "keep_dtype: the graph's types"
    if case.mode == ALLOW:
        if case.operator in CUBE_OPERATORS:
            return "allow_fp32_to_fp16: a matrix operator, float16 first"
        return "allow_fp32_to_fp16: no matrix operator, the graph's types first"
    return _mixed(case, producers) if case.mode == MIX else _RULES[case.mode]


def _mixed(case: Case, producers: list[str]) -> str:
    if case.kernel.mix == "white":
        return "on the white list: float16 first"
    if case.kernel.mix == "black":
        return "on the black list: the graph's types or wider"
    first = next((each for each in case.tensors if each.is_input), None)
    if first is None or not producers:
        return "on the gray list, and no producer: the graph's types first"
    return f"on the gray list: follows {producers[0]} ({first.given})"


def why_refused(case: Case, soc: Soc) -> str:
    """Say why AI Core refuses a node."""
    name = case.operator or "it"
    if not case.kernel.columns:
        return f"AI Core of {soc.family} has no {name}"
    if case.operator in CUBE_OPERATORS and not soc.fp32_cube:
        no_fp32 = f"the matrix unit of {soc.family} has no fp32"
        if is_kept_alone(case):
            return f"{no_fp32}, for which keep_dtype asks: AI Core refuses {name}"
        return f"{no_fp32}: AI Core refuses {name}"
    rule = "keep_dtype" if is_kept_alone(case) else case.mode
    if case.kernel.mix == "black" and case.mode in {MIX, FORCE_FP32}:
        rule = "the black list"
    return f"AI Core of {soc.family} has no fp32 {name}, and {rule} forbids float16"


def is_kept_alone(case: Case) -> bool:
    """Whether a node is kept in its types by keep_dtype, and not by its mode anyway."""
    return case.is_kept and case.mode != KEEP


def _kernel(case: Case) -> str:
    return case.operator or "the kernel"


def _unread(case: Case) -> str:
    operands = {each.operand for each in case.kernel.columns} if case.operator else _BOTH
    return f"{UNREAD}{' and '.join(sorted(operands))} assumed"
