from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.graph.rule import Applied
from ascendflow.graph.rules.lrn_even_size import LrnEvenSize
from tests.editing import finding, why_skipped
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    import onnx

RULE = LrnEvenSize()


def lrn(shape: list[int | str], opset: int = 13, **kind: Any) -> onnx.ModelProto:
    dims = [f"d{axis}" for axis in range(len(shape))]
    return model(
        [node("LRN", ["x"], ["y"], **kind)], [("x", shape)], [("y", dims)], opset=opset
    )


def by_definition(x: np.ndarray, size: int, alpha: float, beta: float, bias: float) -> Any:
    """ONNX's formula in float64; onnxruntime refuses even sizes."""
    wide = x.astype(np.float64)
    y = np.zeros_like(wide)
    for c in range(x.shape[1]):
        first, last = max(0, c - (size - 1) // 2), min(x.shape[1] - 1, c + size // 2)
        total = (wide[:, first : last + 1] ** 2).sum(1)
        y[:, c] = wide[:, c] / (bias + alpha / size * total) ** beta
    return y


@pytest.mark.parametrize("shape", [[2, 6, 3, 4], [2, 5, 7], [1, 1, 3, 3]])
@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("opset", [9, 13, 18])
@pytest.mark.parametrize(
    "factors", [(1e-4, 0.75, 1.0), (0.7, 0.5, 2.0), (-0.001, 1.0, 3.0)]
)
def test_the_definition_is_kept(
    shape: list[int], size: int, opset: int, factors: tuple[float, float, float]
) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 9).astype(F32)
    kind = dict(zip(("alpha", "beta", "bias"), factors, strict=True))

    found, edited = finding(RULE, lrn([*shape], opset, size=size, **kind))

    assert isinstance(found, Applied)
    expected = by_definition(x, size, *factors)
    # `equivalent`; Pow in fp32 is good for a few in 1e7
    extent = float(np.abs(expected).max())
    np.testing.assert_allclose(run(edited, {"x": x})["y"], expected, atol=1e-6 * extent)


def test_defaults_are_those_of_onnx() -> None:
    x = (np.random.default_rng(0).standard_normal((1, 6, 3, 4)) * 50).astype(F32)

    _, edited = finding(RULE, lrn([1, 6, 3, 4], size=4))

    expected = by_definition(x, 4, 1e-4, 0.75, 1.0)
    np.testing.assert_allclose(run(edited, {"x": x})["y"], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "size", "reason"),
    [
        pytest.param([1, 6, 3, 4], 3, "its size is 3", id="odd"),
        pytest.param([1, "c", 3, 4], 4, "number of channels", id="channels"),
        pytest.param([1, 6], 4, "one or two spatial axes", id="rank-2"),
    ],
)
def test_what_cannot_be_written_is_skipped(
    shape: list[int | str], size: int, reason: str
) -> None:
    assert reason in why_skipped(RULE, lrn(shape, size=size))
