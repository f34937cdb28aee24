"""Losses in fp16 that were reported in public, each built again, with the right outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.graph.load import load_model
from ascendflow.graph.rewrite import Request, rewrite
from tests.emulation import FP32, IEEE, SATURATING, cured, dump, emulate, target
from tests.models import F32, layer_norm, masked_softmax, model, node, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ascendflow.cann.lint import Finding


def findings(proto: onnx.ModelProto, folder: Path) -> list[Finding]:
    onnx.save(proto, folder / "linted.onnx")
    return list(lint(load_model(folder / "linted.onnx"), Target.of(target())))


def every_tensor(
    proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return each node's output in fp32, by onnxruntime."""
    names = [name for n in proto.graph.node for name in n.output]
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return run(copy, feeds)


def test_a_mask_of_1e9_gives_nan(tmp_path: Path) -> None:
    """FP01, ModelZoo-PyTorch, SDMGR: the accuracy of the OM collapses."""
    proto = masked_softmax()
    feeds = {
        "x": np.random.default_rng(7).standard_normal((2, 4)).astype(F32),
        "mask": np.array([[1, 1, 0, 0], [1, 1, 1, 1]], F32),
    }

    (found,) = findings(proto, tmp_path)

    assert found.subject == "gnn_mul"
    assert "constant 'big' holds 1e+09" in found.found.reason
    assert np.isnan(emulate(proto, feeds, soc_version=IEEE)["y"]).any()
    got = emulate(cured(proto, "clamp-mask"), feeds, soc_version=IEEE)["y"]
    np.testing.assert_allclose(got, run(proto, feeds)["y"], atol=1e-3)


def test_the_square_of_a_layer_norm_overflows(tmp_path: Path) -> None:
    """FP03, microsoft/onnxruntime#13639, pytorch/TensorRT#4061: x*x passes 65504."""
    proto = layer_norm()
    x = (np.random.default_rng(7).standard_normal((1, 2, 16)) * 3).astype(F32)
    x[0, 0, 3] = 900
    wide = every_tensor(proto, {"x": x})

    half = dump(proto, {"x": x}, soc_version=IEEE)

    assert wide["sq"].max() > 700_000
    beyond = [name for name in wide if not np.isfinite(half[name]).all()]
    assert beyond[0] == "sq"
    saturated = emulate(proto, {"x": x}, soc_version=SATURATING)["y"]
    assert np.abs(saturated - wide["y"]).max() > 3
    np.testing.assert_allclose(emulate(proto, {"x": x}, **FP32)["y"], wide["y"], rtol=1e-5)
    # A product overflows as the power does; squares of quarters do not.
    squared = dump(cured(proto, "pow-to-mul"), {"x": x}, soc_version=IEEE)
    assert np.isinf(squared["sq"]).any()
    onnx.save(proto, tmp_path / "in.onnx")
    request = Request("scale-rmsnorm", ("sd",), arguments={"scale": 4})
    rewrite(tmp_path / "in.onnx", tmp_path / "out.onnx", [request])
    got = emulate(onnx.load(tmp_path / "out.onnx"), {"x": x}, soc_version=IEEE)["y"]
    # roundings of seven fp16 steps, on values up to 3.9
    np.testing.assert_allclose(got, wide["y"], atol=4e-3)


def test_a_convolution_that_overflows_is_scaled(tmp_path: Path) -> None:
    """FP05, a field report on operator scaling: the sum is 146072."""
    random = np.random.default_rng(7)
    x = (np.abs(random.standard_normal((1, 8, 6, 6))) * 60).astype(F32)
    w = (np.abs(random.standard_normal((4, 8, 3, 3))) * 40).astype(F32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3]),
        node("Relu", ["c"], ["y"]),
    ]
    proto = model(nodes, [("x", [1, 8, 6, 6])], [("y", [1, 4, 4, 4])], {"w": w})
    wanted = run(proto, {"x": x})["y"]

    (found,) = findings(proto, tmp_path)
    onnx.save(proto, tmp_path / "in.onnx")
    request = Request("scale-conv", ("conv",), arguments={"scale": 64})
    rewrite(tmp_path / "in.onnx", tmp_path / "out.onnx", [request])
    scaled = onnx.load(tmp_path / "out.onnx")
    tensors = dump(scaled, {"x": x}, soc_version=IEEE)

    assert (found.subject, found.deviation.name) == ("conv", "conv-overflow")
    assert np.isinf(emulate(proto, {"x": x}, soc_version=IEEE)["y"]).any()
    np.testing.assert_array_equal(run(scaled, {"x": x})["y"], wanted)
    (inner,) = (n.output[0] for n in scaled.graph.node if n.op_type == "Cast")
    np.testing.assert_allclose(tensors[inner] * 64, wanted, rtol=1e-3)
    # The Mul is fp16 here, and overflows in its turn.
    assert np.isinf(tensors["y"]).any()
    kept = emulate(scaled, {"x": x}, **FP32)["y"]
    np.testing.assert_allclose(kept, wanted, rtol=1e-5)


def test_a_chain_of_transposed_convolutions_loses_more_with_each() -> None:
    """FP07, Ascend/pytorch#125: growth by layer shows, where the cosine is 0.9999998."""
    random = np.random.default_rng(7)
    x = random.standard_normal((1, 64, 4, 4)).astype(F32) * 8
    nodes, weights, last, channels = [], {}, "x", 64
    for k in range(3):
        shape = (channels, channels // 2, 2, 2)
        weights[f"w{k}"] = (random.standard_normal(shape) * 1.5).astype(F32)
        kind = {"strides": [2, 2], "kernel_shape": [2, 2]}
        nodes.append(node("ConvTranspose", [last, f"w{k}"], [f"t{k}"], **kind))
        last, channels = f"t{k}", channels // 2
    proto = model(nodes, [("x", [1, 64, 4, 4])], [(last, [1, 8, 32, 32])], weights)
    wide = every_tensor(proto, {"x": x})

    half = dump(proto, {"x": x})

    lost = [float(np.abs(half[f"t{k}"] - wide[f"t{k}"]).max()) for k in range(3)]
    np.testing.assert_allclose(lost, [0.15, 1.5, 13.7], rtol=0.2)
    assert np.std(wide["t2"]) > 4000
