"""Operators and outputs on the road to an OM, as users reported them failing.

Each case is built in code, with a variant or two of its kind; what is expected comes from
a closed form, from numpy, or from the public report itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto

from ascendflow.errors import StageError
from tests import exported_models
from tests.models import F32, model, node
from tests.stage_runs import simplified

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def torch_average(x: np.ndarray, stride: int, *, include_pad: bool) -> np.ndarray:
    """3x3 means by torch's rule: padding counts or not, what lies beyond it never does.

    A last window that begins in the padding behind the picture is dropped.
    """
    size = len(x)
    padded, real = np.pad(x, 1), np.pad(np.ones_like(x), 1)
    starts = range(0, min(stride * math.ceil((size - 1) / stride) + 1, size + 1), stride)
    rows = []
    for row in starts:
        for column in starts:
            window = np.s_[row : row + 3, column : column + 3]
            count = padded[window].size if include_pad else real[window].sum()
            rows.append(padded[window].sum() / count)
    return np.array(rows, F32).reshape(1, 1, len(starts), -1)


# As published for 1 to 16 in a square.
PUBLISHED = [1.5556, 3.3333, 2, 6.3333, 11, 6, 4.5, 7.5, 4]


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("include_pad", [0, 1])
@pytest.mark.parametrize(("size", "stride"), [(4, 2), (5, 3), (2, 3), (7, 2)])
def test_average_pool_rounded_up_gives_what_torch_gives_on_the_target_too(
    size: int, stride: int, include_pad: int, opset: int, tmp_path: Path
) -> None:
    """OP01, OP02. As the file stands CANN counts windows and divisors in its own way."""
    x = np.arange(1, size * size + 1, dtype=F32).reshape(size, size)
    expected = torch_average(x, stride, include_pad=bool(include_pad))
    if (size, stride, include_pad) == (4, 2, 1):
        np.testing.assert_allclose(expected.ravel(), PUBLISHED, atol=5e-5)
    proto = exported_models.average_pool(
        opset, size=size, stride=stride, include_pad=include_pad
    )
    made = simplified(tmp_path, proto, x=x.reshape(1, 1, size, size))

    np.testing.assert_allclose(made.golden_of(), expected, rtol=1e-6)
    assert made.judge("ceil-mode-to-pads")["passed"]
    np.testing.assert_allclose(made.emulated(), expected, rtol=2**-11)  # fp16


@pytest.mark.parametrize(
    ("size", "stride", "include_pad", "last"),
    [(4, 2, 1, 16 / 9), (4, 2, 0, 16), (7, 2, 1, (41 + 42 + 48 + 49) / 9)],
)
def test_what_the_last_window_spans_is_divided_by_on_the_target(
    size: int, stride: int, include_pad: int, last: float, tmp_path: Path
) -> None:
    """OP01: 3x3 windows that are cut off behind the picture, without the rule."""
    x = np.arange(1, size * size + 1, dtype=F32).reshape(1, 1, size, size)
    proto = exported_models.average_pool(
        17, size=size, stride=stride, include_pad=include_pad
    )
    made = simplified(tmp_path, proto, x=x)

    passed = made.judge()["passed"]

    assert made.emulated()[0, 0, -1, -1] == np.float16(last)
    assert passed == (made.golden_of()[0, 0, -1, -1] == F32(last))


@pytest.mark.parametrize(("size", "count"), [(5, 3), (2, 2)])
def test_a_window_in_the_padding_is_an_output_more_on_the_target(
    size: int, count: int, tmp_path: Path
) -> None:
    """OP02: the windows of stride 3, without the rule."""
    x = np.ones((1, 1, size, size), F32)
    proto = exported_models.average_pool(17, size=size, stride=3, include_pad=0)
    made = simplified(tmp_path, proto, x=x)

    with pytest.raises(StageError, match=rf"has shape \(1, 1, {count}, {count}\), golden"):
        made.judge()


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_folded_batch_norm_is_judged_relative_to_the_outputs_range(
    scale: float, tmp_path: Path
) -> None:
    """OP06. Absolute errors grow with the numbers, rounding stays what it is."""
    x = np.random.default_rng(7).standard_normal((1, 3, 6, 6)).astype(F32) * F32(scale)
    made = simplified(tmp_path, exported_models.conv_batch_norm(), x=x)
    moved = made.document("simplify.json")["outputs"]["y"]

    assert made.document("simplify.json")["nodes_after"] == 1
    assert moved["max_absolute_error"] > 1e-6 * scale
    assert moved["relative"] < 1e-6


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (2, 4, 1)], ids=str)
@pytest.mark.parametrize("scale", [[1, 3], [0.5, 2, -4, 8]], ids=["2", "4"])
def test_scaled_norm_that_a_fusion_would_break_has_its_golden(
    shape: tuple[int, ...], scale: list[float], tmp_path: Path
) -> None:
    """OP08, FP12. Default optimisation fuses it into a node that refuses its scale."""
    nodes = list(exported_models.rms_norm().graph.node)
    proto = model(
        nodes,
        [("x", shape)],
        [("y", [*shape[:-1], len(scale)])],
        {
            "two": np.array(2, F32),
            "eps": np.array(1e-5, F32),
            "scale": np.array(scale, F32),
        },
    )
    x = np.random.default_rng(7).uniform(1, 2, shape).astype(F32)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt(wide**2 + 1e-5) * scale
    made = simplified(tmp_path, proto, x=x)
    golden = made.document("golden.json")

    np.testing.assert_allclose(made.golden_of(), expected, rtol=5e-7)
    assert made.judge()["passed"]
    assert (golden["runtime"], golden["graph_optimization"]) == ("onnxruntime", "off")
    assert made.findings["golden"].warnings == []


NEAR = np.array([[10.0, 10.001, 1.0], [5.0, 1.0, 0.0]], F32)
"""Of the first two, float16 makes a tie."""


def discrete(form: str) -> tuple[onnx.ModelProto, np.ndarray, float]:
    """Return a model with an integer or bool output, a sample, and its share of flips."""
    kind = TensorProto.BOOL if form == "Greater" else TensorProto.INT64
    if form == "Greater":
        last = node("Greater", ["l", "ten"], ["y"])
        return _over_logits(last, [2, 3], kind), NEAR, 1 / 6
    last = node(form, ["l"], ["y"], axis=1, keepdims=0)
    return _over_logits(last, [2], kind), NEAR if form == "ArgMax" else -NEAR, 1 / 2


def _over_logits(last: Any, shape: list[int | str], kind: int) -> onnx.ModelProto:
    logits = node("Identity", ["x"], ["l"], name="logits")
    ten = {"ten": np.array(10, F32)}
    return model([logits, last], [("x", [2, 3])], [("y", shape, kind)], ten)


@pytest.mark.parametrize("form", ["ArgMax", "ArgMin", "Greater"])
def test_integers_that_flip_on_near_ties_are_judged_by_their_share(
    form: str, tmp_path: Path
) -> None:
    """FP09. Whatever the gate asks of floats."""
    proto, x, share = discrete(form)
    gate = {"*": {"cosine_similarity": {"min": 0.5}}}
    made = simplified(tmp_path / "strict", proto, x=x)
    (check,) = made.judge(gate=gate)["checks"]
    loose = simplified(tmp_path / "loose", proto, x=x)

    assert (check["metric"], check["passed"]) == ("mismatch_rate", False)
    assert check["value"] == pytest.approx(share)
    assert loose.judge(gate={"*": {"mismatch_rate": {"max": 0.5}}})["passed"]
