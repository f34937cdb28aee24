"""What kernels compute where no source says it: each is held against closed forms."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.cann.own_word import own_word
from ascendflow.errors import ToolFailedError
from ascendflow.om.inspection import inspect_om
from tests import recurrent
from tests.installed_cann import NONE, nearest
from tests.models import F32, model, node, resize, run
from tests.resize_kernels import bilinear

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

    from tests.installed_cann import Installed

pytestmark = pytest.mark.cann

RNG = np.random.default_rng(0)
FP32 = {"precision_mode": "must_keep_origin_dtype"}


def settled(
    device: Installed,
    question: str,
    proto: onnx.ModelProto,
    feeds: dict[str, np.ndarray],
    hypotheses: Mapping[str, np.ndarray],
    *,
    case: str = "",
    **settings: Any,
) -> None:
    """Run, keep the answer, and hold the emulator's prediction against it."""
    output = proto.graph.output[0].name
    found = device.run(proto, feeds, **settings)[output]
    answer = nearest(found, hypotheses)
    predictions = [
        nearest(each[output], hypotheses)
        for each in device.emulated(proto, feeds, **settings)
    ]
    said = " or ".join(dict.fromkeys(predictions)) or "nothing"
    device.answer(question, answer, emulated=said, case=case)
    assert answer != NONE, f"{question}: it is none of {', '.join(hypotheses)}"
    if predictions:
        assert answer in predictions, (
            f"{question}: the device does {answer!r}, the emulator says {said!r}"
        )


def doubling(mode: str, coordinates: str) -> onnx.ModelProto:
    return resize(
        [1, 2, 4, 4],
        sizes=[1, 2, 8, 8],
        mode=mode,
        coordinate_transformation_mode=coordinates,
    )


def test_linear_resize_of_half_pixel_samples_as_one_of_the_two(device: Installed) -> None:
    x = RNG.standard_normal((1, 2, 4, 4)).astype(F32)
    hypotheses = {
        "half pixel": bilinear(x, 8, 8, "pytorch_half_pixel"),
        "asymmetric": bilinear(x, 8, 8, "half_pixel"),
        "align corners": bilinear(x, 8, 8, "align_corners"),
    }

    settled(device, "half-pixel", doubling("linear", "half_pixel"), {"x": x}, hypotheses)


def test_resize_without_a_kernel_of_ai_core(device: Installed) -> None:
    x = RNG.standard_normal((1, 2, 4, 4)).astype(F32)
    modes = ("half_pixel", "asymmetric", "align_corners")
    graphs = {mode: doubling("cubic", mode) for mode in modes}
    hypotheses = {mode: run(graph, {"x": x})["y"] for mode, graph in graphs.items()}
    try:
        found = device.run(graphs["half_pixel"], {"x": x})["y"]
    except ToolFailedError as error:
        codes = re.findall(r"\bE[0-9A-Z]\d{4}\b", str(error))
        device.answer("resize-aicpu", f"refused by ATC: {', '.join(codes) or 'no code'}")
        return
    answer = nearest(found, hypotheses)
    device.answer("resize-aicpu", answer)
    assert answer != NONE


def test_float16_overflow_saturates_or_is_infinite(device: Installed) -> None:
    x = np.array([[300, -300, 1, 2]], F32)
    proto = model([node("Mul", ["x", "x"], ["y"])], [("x", [1, 4])], [("y", [1, 4])])
    hypotheses = {
        "saturates": np.array([[65504, 65504, 1, 4]], F32),
        "infinite": np.array([[np.inf, np.inf, 1, 4]], F32),
        "computed in float32": np.array([[90000, 90000, 1, 4]], F32),
    }

    settled(device, "overflow", proto, {"x": x}, hypotheses)


def test_float32_subnormals_are_kept_or_flushed(device: Installed) -> None:
    x = np.array([[2e-38, 4e-38, -2e-38, -4e-38]], F32)
    half = np.full((1, 4), 0.25, F32)
    proto = model(
        [node("Mul", ["x", "h"], ["y"])], [("x", [1, 4])], [("y", [1, 4])], {"h": half}
    )
    flushed = np.where(np.abs(x * half) < np.finfo(F32).tiny, 0, x * half)
    found = device.run(proto, {"x": x}, **FP32)["y"]
    answer = "kept" if np.array_equal(found, x * half) else NONE
    answer = "flushed to zero" if np.array_equal(found, flushed) else answer
    device.answer("subnormals", answer)
    assert answer != NONE


def test_convolution_of_float32_multiplies_float32_or_hf32(device: Installed) -> None:
    if not device.soc.startswith(("Ascend910B", "Ascend910_93")):
        pytest.skip(f"HF32 is of Ascend910B and Ascend910_93, and this is {device.soc}")
    x = RNG.standard_normal((1, 64, 4, 4)).astype(F32)
    w = RNG.standard_normal((8, 64, 1, 1)).astype(F32)
    proto = model(
        [node("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1])],
        [("x", [1, 64, 4, 4])],
        [("y", [1, 8, 4, 4])],
        {"w": w},
    )
    hypotheses = {
        "float32": _one_by_one(x, w),
        "hf32": _one_by_one(_rounded(x, 11), _rounded(w, 11)),
        "float16": _one_by_one(_rounded(x, 10), _rounded(w, 10)),
    }

    settled(device, "hf32", proto, {"x": x}, hypotheses, **FP32)


def _one_by_one(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    factors = (x.astype(np.float64), w[:, :, 0, 0].astype(np.float64))
    return np.asarray(np.einsum("nchw,oc->nohw", *factors))


def _rounded(x: np.ndarray, bits: int) -> np.ndarray:
    """Round to so many bits behind the leading one, ties to even."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    scale = float(1 << (bits + 1))
    return np.asarray(np.ldexp(np.rint(mantissa * scale) / scale, exponent))


def test_gelu_of_erf_becomes_one_kernel_or_not(device: Installed) -> None:
    x = np.linspace(-4, 4, 64, dtype=F32)[None]
    constants = {
        "root": np.array(math.sqrt(2), F32),
        "one": np.array(1, F32),
        "half": np.array(0.5, F32),
    }
    nodes = [
        node("Div", ["x", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["e", "one"], ["p"]),
        node("Mul", ["x", "p"], ["m"]),
        node("Mul", ["m", "half"], ["y"]),
    ]
    proto = model(nodes, [("x", [1, 64])], [("y", [1, 64])], constants)
    erf = np.vectorize(math.erf)(x.astype(np.float64) / math.sqrt(2))
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.astype(np.float64) ** 3)
    there = x < -1.5  # where the two differ most
    hypotheses = {
        "erf": (0.5 * x * (1 + erf))[there],
        "tanh": (0.5 * x * (1 + np.tanh(inner)))[there],
    }

    found = device.run(proto, {"x": x}, **FP32)["y"]
    om = inspect_om(own_word(device.folder / "a" / "model").path, digests=False)["om"]
    assert om is not None
    kinds = {
        kind for each in om["models"] for g in each["graphs"] for kind in g["operators"]
    }
    answer = nearest(found[there], hypotheses)
    fused = sorted(kind for kind in kinds if "Gelu" in kind)
    device.answer("gelu-fusion", answer, operators=", ".join(fused) or "no Gelu")
    assert answer != NONE


@pytest.mark.parametrize("after", [True, False])
def test_gru_applies_its_reset_gate_where_onnx_says(device: Installed, after: bool) -> None:
    proto = recurrent.gru(
        linear_before_reset=int(after),
        shape=(recurrent.STEPS, recurrent.BATCH, recurrent.INPUT),
    )
    hypotheses = {
        "after the product": recurrent.stepped(after=True)["y"],
        "before the product": recurrent.stepped(after=False)["y"],
    }

    case = f"linear_before_reset={int(after)}"
    settled(device, "gru-reset", proto, {"x": recurrent.X}, hypotheses, case=case)
