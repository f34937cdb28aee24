"""The one-go measurement against a plain transcription, closed forms and properties."""

from __future__ import annotations

import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from ascendflow.metrics.measure import measure
from ascendflow.metrics.pairs import BLOCK
from ascendflow.metrics.registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Tensor = NDArray[np.generic]


def transcribed(golden: Tensor, target: Tensor) -> dict[str, float]:
    """The published formulas, a = target, b = golden, in float64, without any care."""
    a, b = target.astype(float).ravel(), golden.astype(float).ravel()
    large = np.abs(b) > 2.2e-16
    relative = np.where(large, np.abs(a - b) / np.where(large, np.abs(b), 1.0), 0.0)
    p = np.maximum((a - a.min()) / (a.max() - a.min()), 2.0**-23)
    q = np.maximum((b - b.min()) / (b.max() - b.min()), 2.0**-23)
    p, q = p / p.sum(), q / q.sum()
    return {
        "cosine_similarity": (a / np.sqrt((a * a).sum())) @ (b / np.sqrt((b * b).sum())),
        "max_absolute_error": np.abs(a - b).max(),
        "accumulated_relative_error": np.abs(a[large] / b[large] - 1).sum(),
        "relative_euclidean_distance": np.sqrt(((a - b) ** 2).sum() / (b**2).sum()),
        "kl_divergence": (p * np.log(p / q)).sum(),
        "mean_absolute_error": np.abs(a - b).sum() / a.size,
        "root_mean_square_error": np.sqrt(((a - b) ** 2).sum() / a.size),
        "max_relative_error": relative.max(),
        "mean_relative_error": relative.sum() / a.size,
        "range_relative_error": np.abs(a - b).max() / (b.max() - b.min()),
        "golden_mean": b.mean(),
        "golden_standard_deviation": b.std(),
        "target_mean": a.mean(),
        "target_standard_deviation": a.std(),
    }


def _noisy(
    shape: tuple[int, ...], *, offset: float = 0.0, relu: bool = False
) -> list[Tensor]:
    rng = np.random.default_rng(0)
    golden = rng.standard_normal(shape) + offset
    golden = np.maximum(golden, 0) if relu else golden
    target = golden + 0.01 * rng.standard_normal(shape)
    return [golden.astype(np.float32), target.astype(np.float32)]


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(_noisy((3, 5, 7)), id="one-block"),
        pytest.param(_noisy((2, BLOCK)), id="whole-blocks"),
        pytest.param(_noisy((3, BLOCK // 2 + 1)), id="a-rest-block"),
        pytest.param(_noisy((BLOCK + 1,)), id="a-rest-of-one-element"),
        pytest.param(_noisy((2, 3, 50, 70), relu=True), id="half-zeros"),
        pytest.param(_noisy((9, 999), offset=1000.0), id="far-from-zero"),
        pytest.param([t.astype(np.float16) for t in _noisy((40, 50))], id="float16"),
        pytest.param(
            [t.astype(ml_dtypes.bfloat16) for t in _noisy((40, 50))], id="bfloat16"
        ),
        pytest.param([t.astype(np.float64) for t in _noisy((4, 5))], id="float64"),
        pytest.param([t.T for t in _noisy((40, 50))], id="not-contiguous"),
    ],
)
def test_every_number_equals_the_plain_formula_to_nine_digits(pair: list[Tensor]) -> None:
    measured = measure(*pair)
    numbers = {**measured.metrics, **measured.statistics}
    expected = transcribed(*pair)

    assert numbers.keys() == expected.keys()
    for name, value in expected.items():
        assert numbers[name] == pytest.approx(value, rel=1e-9), name


def _backwards(function: Callable[[int], Any], starts: Iterable[int]) -> list[Any]:
    return [function(start) for start in reversed(list(starts))][::-1]


@pytest.mark.parametrize("bad", [[], [np.nan], [np.inf, -np.inf]], ids=str)
def test_the_last_bit_depends_on_no_thread(bad: list[float]) -> None:
    golden, target = _noisy((7 * BLOCK + 11,), relu=True)
    golden[100 : 100 + len(bad)] = bad
    expected = measure(golden, target)

    with ThreadPoolExecutor(3) as threads:
        found = [measure(golden, target, each=e) for e in (threads.map, _backwards)]
    assert [repr(one) for one in found] == [repr(expected)] * 2


def _same(one: float, other: float) -> bool:
    return one == pytest.approx(other, rel=1e-9, abs=1e-12, nan_ok=True)


VALUES = st.one_of(
    st.floats(-1e4, 1e4, width=32),
    st.sampled_from([0.0, 1e-30, np.nan, np.inf, -np.inf, 3e38]),
)
TENSORS = st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4).flatmap(
    lambda shape: st.tuples(
        *[st_numpy.arrays(np.float32, shape, elements=VALUES) for _ in range(2)]
    )
)


@given(TENSORS)
@settings(max_examples=200, deadline=None)
def test_measuring_in_one_go_equals_each_definition(pair: tuple[Tensor, Tensor]) -> None:
    for name, value in measure(*pair).metrics.items():
        with np.errstate(all="ignore"):
            function = resolve_name(f"ascendflow.metrics.{METRICS[name].definition}")
            assert _same(value, function(*pair)), name


@given(TENSORS)
@settings(max_examples=100, deadline=None)
def test_a_tensor_equals_itself_unless_it_is_not_finite(
    pair: tuple[Tensor, Tensor],
) -> None:
    golden = pair[0]
    metrics = measure(golden, golden).metrics

    if np.isfinite(golden).all():
        assert metrics.pop("cosine_similarity") == pytest.approx(1.0, rel=1e-15)
        assert set(metrics.values()) == {0.0}
    else:
        assert math.isnan(metrics["cosine_similarity"])


@given(TENSORS)
@settings(max_examples=100, deadline=None)
def test_one_nonfinite_element_of_the_target_spoils_every_metric(
    pair: tuple[Tensor, Tensor],
) -> None:
    golden = np.nan_to_num(pair[0].astype(np.float64)).ravel()
    if not golden.size:
        return
    for bad in (np.nan, np.inf):
        target = golden.copy()
        target[-1] = bad
        metrics = measure(golden, target).metrics
        assert not any(math.isfinite(value) for value in metrics.values())


def test_scaling_the_target_leaves_the_cosine_and_nothing_else() -> None:
    golden = np.random.default_rng(0).standard_normal(100)
    metrics = measure(golden, 2 * golden).metrics

    assert metrics["cosine_similarity"] == pytest.approx(1.0, rel=1e-15)
    assert metrics["relative_euclidean_distance"] == pytest.approx(1.0, rel=1e-14)
    assert metrics["mean_relative_error"] == pytest.approx(1.0, rel=1e-14)
    assert metrics["accumulated_relative_error"] == pytest.approx(100.0, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_values_keep_their_cosine(scale: float) -> None:
    golden = np.array([3.0, 4.0]) * scale

    assert measure(golden, -golden).metrics["cosine_similarity"] == pytest.approx(-1.0)
    crossed = measure(golden, golden[::-1].copy()).metrics
    assert crossed["cosine_similarity"] == pytest.approx(24 / 25)


def test_nonfinite_elements_are_counted_where_they_are() -> None:
    golden = np.array([1.0, np.inf, np.nan, -np.inf, 2.0, np.nan])
    target = np.array([1.0, np.inf, np.nan, np.inf, np.nan, 3.0])
    measured = measure(golden, target)

    assert (measured.golden_nonfinite, measured.target_nonfinite) == (4, 4)
    assert measured.introduced_nonfinite == 2  # -inf became inf, 2 became NaN
    assert measured.lost_nonfinite == 2  # -inf became inf, NaN became 3


def test_an_infinity_in_a_late_block_is_not_missed() -> None:
    golden = np.ones(2 * BLOCK + 5, np.float32)
    target = golden.copy()
    target[-1] = np.inf
    measured = measure(golden, target)

    assert math.isnan(measured.metrics["cosine_similarity"])
    assert measured.metrics["max_absolute_error"] == math.inf
    assert measured.introduced_nonfinite == 1


def test_empty_tensors_are_equal_and_have_no_mean() -> None:
    measured = measure(np.empty((0, 4), np.float32), np.empty((0, 4), np.float32))

    assert measured.metrics.pop("cosine_similarity") == 1.0
    assert set(measured.metrics.values()) == {0.0}
    assert all(math.isnan(value) for value in measured.statistics.values())


def test_integers_and_booleans_have_a_mismatch_rate_only() -> None:
    flags = np.array([True, False])

    assert measure(np.arange(4), np.array([0, 1, 2, 9])).metrics == {"mismatch_rate": 0.25}
    assert measure(flags, ~flags).metrics == {"mismatch_rate": 1.0}


@pytest.mark.parametrize(
    ("golden", "target"),
    [
        pytest.param(np.ones(2), np.ones(2, np.int64), id="float-against-integer"),
        pytest.param(np.ones(2, complex), np.ones(2, complex), id="complex"),
        pytest.param(np.array(["a"]), np.array(["a"]), id="text"),
    ],
)
def test_what_is_not_comparable_is_refused_by_dtype(golden: Tensor, target: Tensor) -> None:
    with pytest.raises(ValueError, match=f"golden is {golden.dtype.name}"):
        measure(golden, target)


def test_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        measure(np.ones((2, 4), np.float32), np.ones(8, np.float32))


def test_memory_does_not_grow_with_the_tensor() -> None:
    def peak(blocks: int) -> int:
        golden = np.linspace(0, 1, blocks * BLOCK, dtype=np.float32)
        target = golden + np.float32(0.5)
        tracemalloc.start()
        try:
            measure(golden, target)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(20) < 1.1 * peak(2)


def test_what_float16_rounds_coarsely_is_counted_with_the_error_that_it_makes() -> None:
    golden = np.array([0.0, 1e-9, -3e-8, 4e-8, 5e-5, 2.0**-14, 1.0])
    target = golden.astype(np.float16)  # an independent rounding
    error = target.astype(float) - golden
    tiny = error[1:5]

    assert measure(golden, target).underflow == {
        "tiny": 4,
        "zeroed": 1,  # -3e-8 and 4e-8 are nearer to 6e-8 than to 0
        "elements": 7,
        "explained": pytest.approx(float((tiny @ tiny) / (error @ error)), rel=1e-12),
    }


def test_an_error_of_another_kind_is_not_explained_by_float16() -> None:
    golden = np.linspace(1e-6, 6e-5, 1000)
    far = measure(golden, -golden).underflow
    near = measure(golden, golden.astype(np.float32)).underflow
    none = measure(golden, golden).underflow

    assert far is not None
    assert near is not None
    assert none is not None
    assert float(far["explained"]) < 1e-5
    assert float(near["explained"]) > 1e6
    assert none["explained"] == "NaN"


def test_where_nothing_is_tiny_there_is_no_underflow() -> None:
    ones = np.array([0.0, 1.0, -(2.0**-14)])

    assert measure(ones, np.zeros(3)).underflow is None


def test_underflow_is_the_same_over_many_blocks() -> None:
    golden = np.full(3 * BLOCK + 5, 1e-9)
    found = measure(golden, np.zeros_like(golden)).underflow

    assert found is not None
    assert found["tiny"] == found["zeroed"] == found["elements"] == golden.size
    assert found["explained"] == pytest.approx(1.0)
