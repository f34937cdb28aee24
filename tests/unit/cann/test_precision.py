"""Columns against FE's rules, worked out by hand for each case."""

from __future__ import annotations

import pytest

from ascendflow import atc_words
from ascendflow.cann.kernels import HALF, MIXED, WIDE, Column, Dtype, Kernel, Mix
from ascendflow.cann.precision import MODELLED, Case, Tensor, choose_column, is_refused

F16: Dtype = "float16"
F32: Dtype = "float32"
FORCE, KEEP, ALLOW, MIX, WIDER = (
    "force_fp16",
    "must_keep_origin_dtype",
    "allow_fp32_to_fp16",
    "allow_mix_precision",
    "force_fp32",
)


def data(dtype: Dtype = F32, given: Dtype | None = None, *, first: bool = True) -> Tensor:
    return Tensor(dtype, is_input=True, given=given or dtype, is_first=first)


def result(dtype: Dtype = F32) -> Tensor:
    return Tensor(dtype, is_input=False, given=dtype)


def chosen(
    mode: str,
    columns: tuple[Column, ...],
    *tensors: Tensor,
    mix: Mix = "gray",
    operator: str = "Vector",
    kept: bool = False,
) -> Column | None:
    """None: AI Core refuses it."""
    kernel = Kernel(mix, columns, is_read=True)
    case = Case(operator, kernel, tensors or (data(), result()), mode, is_kept=kept)
    return None if is_refused(case) else choose_column(case, columns)


def test_the_modelled_modes_are_atcs() -> None:
    assert set(MODELLED) <= set(atc_words.PRECISION_MODES)
    spellings = {*atc_words.PRECISION_MODES, *atc_words.PRECISION_MODES_V2}
    assert {each for pair in atc_words.SAME_PRECISION_MODES for each in pair} <= spellings


@pytest.mark.parametrize(
    ("mode", "columns", "expected"),
    [
        (FORCE, (HALF, WIDE), HALF),
        (FORCE, (WIDE, HALF), HALF),
        (FORCE, (WIDE,), WIDE),  # rises where there is no fp16
        (FORCE, (HALF, MIXED, WIDE), HALF),
        (KEEP, (HALF, WIDE), WIDE),
        (KEEP, (HALF,), None),
        (KEEP, (HALF, MIXED), None),  # its input has no fp32
        (ALLOW, (HALF, WIDE), WIDE),
        (ALLOW, (HALF,), HALF),
        (ALLOW, (HALF, MIXED), HALF),  # the input was reduced, so the output is pinned
        (WIDER, (HALF, WIDE), WIDE),
        (WIDER, (HALF,), HALF),
        (MIX, (HALF, WIDE), WIDE),  # gray behind an fp32 producer
        (MIX, (HALF,), HALF),
        (MIX, (HALF, MIXED), MIXED),  # here a reduction pins nothing
    ],
)
def test_a_vector_operator_of_fp32(
    mode: str, columns: tuple[Column, ...], expected: Column | None
) -> None:
    assert chosen(mode, columns) == expected


@pytest.mark.parametrize(
    ("mode", "columns", "expected"),
    [
        (ALLOW, (HALF, WIDE), HALF),
        (ALLOW, (WIDE,), WIDE),
        (WIDER, (HALF, MIXED, WIDE), MIXED),
        (WIDER, (HALF, WIDE), WIDE),
        (WIDER, (HALF,), HALF),
        (KEEP, (HALF, WIDE), WIDE),
        (KEEP, (HALF,), None),
    ],
)
def test_a_matrix_operator_of_fp32(
    mode: str, columns: tuple[Column, ...], expected: Column | None
) -> None:
    tensors = (data(), data(first=False), result())

    assert chosen(mode, columns, *tensors, operator="Conv2D", mix="white") == expected


@pytest.mark.parametrize(
    ("mix", "columns", "given", "expected"),
    [
        ("white", (HALF, WIDE), F32, HALF),
        ("white", (WIDE,), F16, WIDE),
        ("white", (HALF, MIXED), F32, HALF),
        ("black", (HALF, WIDE), F16, WIDE),
        ("black", (HALF,), F16, None),  # neither refused by the strategy, but by AI Core
        ("gray", (HALF, WIDE), F16, HALF),
        ("gray", (HALF, MIXED, WIDE), F16, MIXED),  # the output has no producer: fp32
        ("gray", (HALF, MIXED, WIDE), F32, WIDE),
        ("gray", (WIDE,), F16, WIDE),
    ],
)
def test_the_lists_of_mixed_precision(
    mix: Mix, columns: tuple[Column, ...], given: Dtype, expected: Column | None
) -> None:
    tensors = (data(given=given), result())

    assert chosen(MIX, columns, *tensors, mix=mix) == expected


# What GE's own tests expect of fp32 nodes without a producer
# (fusion_engine_op_judge_unittest_precision_mode.cc, set_nodes_IO_dtypes_*).
@pytest.mark.parametrize(
    ("mode", "mix", "only_wide", "only_half", "both"),
    [
        (FORCE, "gray", WIDE, HALF, HALF),
        (ALLOW, "gray", WIDE, HALF, WIDE),
        (WIDER, "gray", WIDE, HALF, WIDE),
        (KEEP, "gray", WIDE, None, WIDE),
        (MIX, "gray", WIDE, HALF, WIDE),
        (MIX, "white", WIDE, HALF, HALF),
        (MIX, "black", WIDE, None, WIDE),
    ],
)
def test_ges_own_tests_expect_the_same(
    mode: str, mix: Mix, only_wide: Column, only_half: Column | None, both: Column
) -> None:
    assert chosen(mode, (WIDE,), mix=mix) == only_wide
    assert chosen(mode, (HALF,), mix=mix) == only_half
    assert chosen(mode, (HALF, WIDE), mix=mix) == both


def test_ges_own_tests_expect_the_same_of_a_cube_and_its_constants() -> None:
    """judge_node_allowfp32to16_cube, and _keepdtype."""
    tensors = (data(), data(first=False), data(first=False), result())

    assert chosen(ALLOW, (HALF, WIDE), *tensors, operator="MatMulV2") == HALF
    assert chosen(ALLOW, (HALF, WIDE), *tensors, operator="MatMulV2", kept=True) == WIDE


def test_the_first_gray_input_decides_and_the_others_are_cast_to_it() -> None:
    wide, half = data(given=F32), data(given=F16, first=False)

    assert chosen(MIX, (HALF, WIDE), wide, half, result()) == WIDE
    assert chosen(MIX, (HALF, WIDE), data(given=F16), data(first=False), result()) == HALF


@pytest.mark.parametrize("mode", [FORCE, ALLOW, MIX, WIDER])
@pytest.mark.parametrize("operator", ["Conv2D", "Vector"])
def test_what_is_kept_keeps_its_types_or_is_refused(mode: str, operator: str) -> None:
    assert chosen(mode, (HALF, WIDE), operator=operator, kept=True) == WIDE
    assert chosen(mode, (HALF,), operator=operator, kept=True) is None


def test_fp16_of_the_graph_rises_only_where_a_mode_or_a_kernel_says_so() -> None:
    tensors = (data(F16), result(F16))

    assert chosen(KEEP, (HALF, WIDE), *tensors) == HALF
    assert chosen(KEEP, (WIDE,), *tensors) == WIDE
    assert chosen(WIDER, (HALF, WIDE), *tensors) == WIDE
    assert chosen(ALLOW, (HALF, WIDE), *tensors) == HALF


def test_black_operators_without_fp32_are_refused_in_mixed_precision_and_force_fp32() -> (
    None
):
    for mode, expected in ((MIX, None), (WIDER, None), (ALLOW, HALF), (FORCE, HALF)):
        assert chosen(mode, (HALF,), mix="black") == expected


def test_no_kernel_at_all_is_refused() -> None:
    assert chosen(FORCE, ()) is None
