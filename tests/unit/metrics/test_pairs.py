from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ascendflow.metrics.pairs import BLOCK, blocks, flat_pair, kind_of


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (np.float16, "float"),
        (np.float64, "float"),
        (ml_dtypes.bfloat16, "float"),
        (ml_dtypes.float8_e4m3fn, "float"),
        (np.uint8, "discrete"),
        (np.int64, "discrete"),
        (np.bool_, "discrete"),
        (ml_dtypes.int4, "discrete"),
        (np.complex64, None),
        (np.str_, None),
        (np.object_, None),
    ],
)
def test_each_dtype_is_compared_in_its_own_way(dtype: type, kind: str | None) -> None:
    assert kind_of(np.dtype(dtype)) == kind


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_blocks_hold_every_element_once_and_in_order(size: int) -> None:
    golden = np.arange(size, dtype=np.float32)
    seen = [(g.copy(), t.copy()) for g, t in blocks(golden, -golden)]

    assert all(0 < g.size <= BLOCK for g, _ in seen)
    np.testing.assert_array_equal(
        np.concatenate([np.empty(0), *(g for g, _ in seen)]), golden
    )
    np.testing.assert_array_equal(
        np.concatenate([np.empty(0), *(t for _, t in seen)]), -golden
    )


def test_blocks_of_a_transposed_tensor_are_in_its_own_order() -> None:
    tensor = np.arange(6.0).reshape(2, 3).T
    ((g, _),) = blocks(tensor, tensor)

    np.testing.assert_array_equal(g, [0, 3, 1, 4, 2, 5])


def test_a_scalar_is_one_element() -> None:
    ((g, t),) = blocks(np.array(2.0), np.array(3.0))

    assert (g.tolist(), t.tolist()) == ([2.0], [3.0])


def test_other_shapes_are_refused_even_of_equal_size() -> None:
    for function in (flat_pair, lambda g, t: next(blocks(g, t))):
        with pytest.raises(ValueError, match=r"golden \(4,\), target \(2, 2\)"):
            function(np.ones(4), np.ones((2, 2)))
