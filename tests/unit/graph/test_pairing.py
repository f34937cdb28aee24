from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from ascendflow.graph.pairing import Alone, Paired, pair_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

TENSORS: dict[str, np.ndarray] = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.ones((0, 3), np.float16),
    "c": np.array(7, np.int64),
    "d": np.arange(5).astype(ml_dtypes.bfloat16),
}


def _dump(names: str) -> Iterator[tuple[str, np.ndarray]]:
    return ((name, TENSORS.get(name, np.zeros(1))) for name in names)


@pytest.mark.parametrize("pending_bytes", [0, 8, 1 << 20], ids=["file", "both", "memory"])
@pytest.mark.parametrize("order", ["abcd", "dcba", "cadb"])
def test_tensors_meet_their_counterpart_in_any_order(
    order: str, pending_bytes: int
) -> None:
    target = ((name, array + array) for name, array in _dump(order))
    found = list(pair_by_name(_dump("abcd"), target, pending_bytes=pending_bytes))

    assert {pair.tensor for pair in found} == set("abcd")
    for pair in found:
        assert isinstance(pair, Paired)
        expected = TENSORS[pair.tensor]
        assert pair.golden.dtype == pair.target.dtype == expected.dtype
        np.testing.assert_array_equal(pair.golden, expected)
        np.testing.assert_array_equal(pair.target, expected + expected)


def test_tensors_of_one_side_come_last_and_say_of_which() -> None:
    found = list(pair_by_name(_dump("xab"), _dump("ayb"), pending_bytes=8))

    assert [pair.tensor for pair in found[:2]] == ["a", "b"]
    assert found[2:] == [Alone("x", in_golden=True), Alone("y", in_golden=False)]


def test_a_pair_is_yielded_before_later_tensors_are_asked_for() -> None:
    def endless() -> Iterator[tuple[str, np.ndarray]]:
        yield from _dump("ab")
        raise AssertionError

    pairs = pair_by_name(endless(), _dump("ab"))

    assert [next(pairs).tensor, next(pairs).tensor] == ["a", "b"]
