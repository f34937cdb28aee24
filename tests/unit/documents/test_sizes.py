"""Bytes are numpy's and ml_dtypes' own; those of fewer than 8 bits are counted by hand."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from ascendflow.documents.sizes import bytes_of
from ascendflow.om.numbering import ACL_DTYPES, PROTO_DTYPES

OURS = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "bfloat16": ml_dtypes.bfloat16}
WHOLE = [
    *("float32", "float16", "float64", "int8", "int16", "int32", "int64", "bool"),
    *("uint8", "uint16", "uint32", "uint64", "complex64", "complex128", *OURS),
]


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("shape", [[], [1], [3, 5], [2, 0, 4]])
def test_size_is_that_of_an_array(dtype: str, shape: list[int]) -> None:
    item = np.dtype(OURS.get(dtype, dtype)).itemsize
    assert bytes_of(dtype, shape) == item * math.prod(shape)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("int4", 2), ("uint2", 1), ("uint1", 1), ("float4_e2m1", 2), ("float6_e3m2", 3),
     ("hifloat8", 3), ("qint16", 6), ("quint8", 3), ("float8e5m2", 3)],
)  # fmt: skip
def test_elements_of_few_bits_lie_side_by_side(dtype: str, size: int) -> None:
    assert bytes_of(dtype, [3]) == size


def test_what_is_open_has_no_size() -> None:
    for shape in (None, [-1], [2, "n"], [2, None]):
        assert bytes_of("float32", shape) is None


@pytest.mark.parametrize(
    "dtype", ["string", "undefined", "variant", "resource", "dual", "unknown (99)", ""]
)
def test_element_of_no_fixed_size_has_none(dtype: str) -> None:
    assert bytes_of(dtype, [2]) is None


def test_every_number_has_a_size_or_is_known_to_have_none() -> None:
    none = {"string", "resource", "string_ref", "dual", "variant", "undefined"}
    none |= {"dual_sub_int8", "dual_sub_uint8"}
    named = {*PROTO_DTYPES.values(), *ACL_DTYPES.values()}
    assert {name for name in named if bytes_of(name, []) is None} == none
