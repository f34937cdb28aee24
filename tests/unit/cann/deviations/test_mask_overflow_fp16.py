"""Masks before Softmax. Rounding is the storage's; held to numpy in fp16 here."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from tests.emulation import IEEE, SATURATING, Linted, cured, emulate, linted
from tests.halves import half
from tests.models import F32, masked_softmax, model, node, run

NAME = "mask-overflow-fp16"
X = np.array([[1, 2, 3, 4], [0.5, -0.5, 0, 1]], F32)
MASK = np.array([[1, 1, 0, 0], [1, 1, 1, 1]], F32)


def added(mask: object, op_type: str = "Add") -> onnx.ModelProto:
    nodes = [
        node(op_type, ["x", "mask"], ["z"]),
        node("Reshape", ["z", "shape"], ["r"]),
        node("Softmax", ["r"], ["y"], axis=-1),
    ]
    constants = {"mask": np.array(mask, F32), "shape": np.array([2, 4])}
    return model(nodes, [("x", [2, 4])], [("y", [2, 4])], constants)


CAUSAL = [[0, 0, -1e9, -1e9], [0, 0, 0, -3.4e38]]


def softmax(z: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def test_zero_times_infinity_is_nan() -> None:
    """(1 - mask) * 1e9, on a SoC with infinities: 0 * inf where nothing is masked."""
    proto = masked_softmax()

    got = emulate(proto, {"x": X, "mask": MASK}, soc_version=IEEE)["y"]

    with np.errstate(invalid="ignore"):
        pen = half((1 - MASK) * half(1e9))
    assert np.isnan(pen[0]).tolist() == [True, True, False, False]
    np.testing.assert_array_equal(got, half(softmax(half(half(X) - pen))))
    assert np.isnan(got).any()
    assert np.isfinite(run(proto, {"x": X, "mask": MASK})["y"]).all()


def test_a_saturating_soc_masks_all_the_same() -> None:
    proto = added(CAUSAL)

    got = emulate(proto, {"x": X}, soc_version=SATURATING)["y"]

    z = half(
        np.clip(half(X) + np.clip(np.array(CAUSAL, F32), -65504, 65504), -65504, 65504)
    )
    np.testing.assert_allclose(got, half(softmax(z)), rtol=2**-10)
    np.testing.assert_allclose(got, run(proto, {"x": X})["y"], atol=2**-11)


@pytest.mark.parametrize(
    ("proto", "name"),
    [
        pytest.param(added(CAUSAL), "z", id="add"),
        pytest.param(added(1e9, "Sub"), "z", id="sub"),
        pytest.param(masked_softmax(), "gnn_mul", id="mul"),
    ],
)
@pytest.mark.parametrize(
    ("soc_version", "consequence"), [(SATURATING, "precision"), (IEEE, "silent")]
)
def test_lint_names_the_node(
    proto: onnx.ModelProto, name: str, soc_version: str, consequence: str
) -> None:
    assert linted(proto, soc_version=soc_version) == [Linted(name, NAME, consequence)]


def test_a_mask_that_fp16_holds_is_not_named() -> None:
    assert linted(added([[0, 0, -1e4, -1e4], [0, 0, 0, -65504]])) == []


def test_a_result_that_goes_elsewhere_too_is_no_mask() -> None:
    proto = added(CAUSAL)
    proto.graph.output.append(
        onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [2, 4])
    )

    assert linted(proto) == [Linted("z", "const-overflow-fp16", "silent")]


@pytest.mark.parametrize(
    "proto", [added(CAUSAL), added(1e9, "Sub"), masked_softmax()], ids=["add", "sub", "mul"]
)
@pytest.mark.parametrize("soc_version", [SATURATING, IEEE])
def test_the_rule_gives_the_original_softmax(
    proto: onnx.ModelProto, soc_version: str
) -> None:
    fed = {value.name for value in proto.graph.input}
    feeds = {name: each for name, each in {"x": X, "mask": MASK}.items() if name in fed}
    masked = cured(proto, "clamp-mask")

    got = emulate(masked, feeds, soc_version=soc_version)["y"]

    # half an fp16 ulp of scores up to 4, which exp turns into 2^-9, and one of the result
    np.testing.assert_allclose(got, run(proto, feeds)["y"], rtol=2**-8, atol=1e-7)
    assert linted(masked, soc_version=soc_version) == []
