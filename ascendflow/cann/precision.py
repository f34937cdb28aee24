"""precision_mode -> the column of types in which one kernel runs.

What CANN's fusion engine (FE) does: each tensor of a node, inputs in FE's order and then
outputs, wants a type and strikes out the columns that do not fit; the first that is left
is taken. A want is met by *rising* (the type itself, else a wider one), else in some modes
by *reducing* (fp32 to fp16); one that nothing meets strikes nothing out.

* force_fp16: fp32 is wanted as fp16; rises.
* must_keep_origin_dtype: the graph's type; rises.
* allow_fp32_to_fp16: matrix operators want fp16, others the graph's type; rises or
  reduces; once something was reduced, what follows wants fp16.
* force_fp32 (= cube_fp16in_fp32out): fp32; the first input of a matrix operator whose
  kernel has a column fp16 in, fp32 out wants fp16; rises or reduces.
* allow_mix_precision: by the operator's list. White: fp16 if there is one. Black: as
  must_keep_origin_dtype. Gray: inputs want what their producer gives, rise or reduce;
  outputs have no producer and go by allow_fp32_to_fp16, in which a reduction pins nothing.

Before that AI Core refuses a node of which some tensor has no column that is the graph's
type or wider, unless it may be reduced: never under must_keep_origin_dtype and keep_dtype,
nor black operators under allow_mix_precision and force_fp32. Read in source, high.

Sources: GE `op_dtype_selection_strategy_*.cc`, `op_dtype_{rise,reduce,mix_precision}_
matcher.cc`, `op_format_dtype_strategy_manager.cc` (MatchByDifferentMode),
`op_format_dtype_judge.cc` (SortInputBySequence, GetMatchedIndex,
InitMatchedIndexByCustomDtype), `sub_ops_store.cc` (CheckPrecisionReduce).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendflow.atc_words import FORCE_FP16
from ascendflow.cann.kernels import CUBE_OPERATORS, MIXED, Column, Dtype
from ascendflow.cann.soc import FAMILIES, spelled
from ascendflow.manifest.precision_keys import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ascendflow.cann.kernels import Kernel
    from ascendflow.cann.soc import Soc

KEEP = "must_keep_origin_dtype"
FORCE_FP32 = "force_fp32"
ALLOW = "allow_fp32_to_fp16"
MIX = "allow_mix_precision"
MODELLED = (FORCE_FP16, KEEP, ALLOW, MIX, FORCE_FP32)

SOURCE = (
    "GE op_dtype_selection_strategy_*.cc, op_format_dtype_judge.cc, sub_ops_store.cc; CANN "
    "8.1.RC1 aic-<soc>-ops-info.json, platform_config"
)

Columns = tuple[Column, ...]


@dataclass(frozen=True)
class Tensor:
    """A floating tensor of a node, as FE sees it.

    Attributes:
        dtype: its type in the ONNX graph.
        is_input: otherwise it is an output.
        given: what its producer gives on the target; the graph's type for an output.
        is_first: it is input 0.
    """

    dtype: Dtype
    is_input: bool
    given: Dtype
    is_first: bool = False

    def column_type(self, column: Column) -> Dtype:
        """Return the type that `column` has for this tensor."""
        return column.operand if self.is_input else column.result


@dataclass(frozen=True)
class Case:
    """One node to choose a column for.

    Attributes:
        operator: GE operator, or None.
        kernel: what it offers, its list already modified.
        tensors: inputs, constants last, then outputs.
        mode: a modelled precision mode.
        is_kept: keep_dtype names it.
    """

    operator: str | None
    kernel: Kernel
    tensors: Sequence[Tensor]
    mode: str
    is_kept: bool = False

    @property
    def keeps(self) -> bool:
        """Whether no tensor of it may be reduced."""
        black = self.kernel.mix == "black" and self.mode in {MIX, FORCE_FP32}
        return self.is_kept or self.mode == KEEP or black


def why_not_modelled(spelled_mode: str, soc: Soc) -> str | None:
    """Return why a precision mode is not modelled on a family of SoCs, or None.

    Args:
        spelled_mode: as ATC's `--precision_mode` or `--precision_mode_v2` takes it.
        soc: the family.
    """
    mode = canonical(spelled_mode)
    if mode not in MODELLED:
        modelled = _modelled()
        return f"precision_mode {spelled_mode!r} is not modelled yet; modelled: {modelled}"
    if mode == FORCE_FP32 and not soc.fp32_cube:
        return (
            f"precision_mode 'force_fp32' is not modelled on {soc.family}: its matrix unit "
            f"has no fp32; modelled: {_modelled()}"
        )
    return None


def _modelled() -> str:
    """Say which modes are modelled, and where, if not everywhere."""
    everywhere = ", ".join(mode for mode in MODELLED if mode != FORCE_FP32)
    wide = spelled(each.family for each in FAMILIES.values() if each.fp32_cube)
    return f"{everywhere}; force_fp32 on {wide}"


def is_refused(case: Case) -> bool:
    """Return whether AI Core refuses the node: CheckPrecisionReduce."""
    return any(not _is_supported(case, tensor) for tensor in case.tensors)


def _is_supported(case: Case, tensor: Tensor) -> bool:
    types = {tensor.column_type(column) for column in case.kernel.columns}
    if "float32" in types or tensor.dtype in types:
        return True
    return bool(types) and not case.keeps


def choose_column(case: Case, candidates: Columns) -> Column:
    """Return the column that is left first.

    Args:
        case: a node that AI Core does not refuse.
        candidates: columns to choose from, at least one.
    """
    is_pinned = False
    for tensor in case.tensors:
        if case.is_kept:
            found = _allow(case, tensor, candidates)
        elif is_pinned:
            found = _rise(candidates, tensor, "float16")
        else:
            found = _by_mode(case, tensor, candidates)
        if case.mode == ALLOW and not case.is_kept:
            is_pinned = is_pinned or _was_reduced(case, tensor, found)
        candidates = found or candidates
    return candidates[0]


def _by_mode(case: Case, tensor: Tensor, candidates: Columns) -> Columns:
    match case.mode:
        case "force_fp16":
            return _rise(candidates, tensor, "float16")
        case "must_keep_origin_dtype":
            return _rise(candidates, tensor, tensor.dtype)
        case "allow_fp32_to_fp16":
            return _allow(case, tensor, candidates)
        case "force_fp32":
            return _wide(case, tensor, candidates)
    return _mixed(case, tensor, candidates)


def _mixed(case: Case, tensor: Tensor, candidates: Columns) -> Columns:
    if case.kernel.mix == "white":
        return _exactly(candidates, tensor, "float16")
    if case.kernel.mix == "black":
        return _rise(candidates, tensor, tensor.dtype)
    if not tensor.is_input:
        return _allow(case, tensor, candidates)
    rising = _rise(candidates, tensor, tensor.given)
    return rising or _exactly(candidates, tensor, "float16")


def _allow(case: Case, tensor: Tensor, candidates: Columns) -> Columns:
    rising = _rise(candidates, tensor, _wanted(case, tensor))
    return rising or _exactly(candidates, tensor, "float16")


def _wanted(case: Case, tensor: Tensor) -> Dtype:
    is_lowered = case.operator in CUBE_OPERATORS and not case.is_kept
    return "float16" if is_lowered else tensor.dtype


def _was_reduced(case: Case, tensor: Tensor, found: Columns) -> bool:
    narrow = found and tensor.column_type(found[0]) == "float16"
    return bool(narrow) and _wanted(case, tensor) == "float32"


def _wide(case: Case, tensor: Tensor, candidates: Columns) -> Columns:
    is_mixed = case.operator in CUBE_OPERATORS and MIXED in case.kernel.columns
    want: Dtype = "float16" if tensor.is_first and is_mixed else "float32"
    rising = _rise(candidates, tensor, want)
    return rising or _exactly(candidates, tensor, "float16")


def _rise(candidates: Columns, tensor: Tensor, want: Dtype) -> Columns:
    """Return the columns of the type wanted, else of a wider one, else none."""
    return _exactly(candidates, tensor, want) or _exactly(candidates, tensor, "float32")


def _exactly(candidates: Columns, tensor: Tensor, want: Dtype) -> Columns:
    return tuple(each for each in candidates if tensor.column_type(each) == want)
