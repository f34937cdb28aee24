from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from ascendflow.graph.rule import Applied, Skipped
from ascendflow.graph.rules.unfuse_gelu import UnfuseGelu
from tests.models import F32, model, node, run


def erf_plus(number: float, shape: tuple[int, ...] = ()) -> onnx.ModelProto:
    nodes = [
        node("Div", ["x", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["one", "e"], ["a"]),
        node("Mul", ["x", "a"], ["m"]),
        node("Mul", ["m", "half"], ["y"]),
        node("Add", ["y", "y"], ["z"]),
    ]
    constants = {
        "root": np.array(np.sqrt(2), F32),
        "one": np.full(shape, number, F32),
        "half": np.array(0.5, F32),
    }
    return model(nodes, [("x", [1000])], [("z", [1000])], constants)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_the_add_becomes_a_sub_and_every_bit_stays(shape: tuple[int, ...]) -> None:
    proto = erf_plus(1, shape)
    edited = ir.from_proto(onnx.shape_inference.infer_shapes(proto))

    (found,) = UnfuseGelu()(edited)

    assert isinstance(found, Applied)
    after = ir.to_proto(edited)
    assert [n.op_type for n in after.graph.node] == [
        "Div", "Erf", "Sub", "Mul", "Mul", "Add",
    ]  # fmt: skip
    assert (after.graph.node[2].name, list(after.graph.node[2].output)) == ("a", ["a"])
    x = np.random.default_rng(0).standard_normal(1000).astype(F32) * F32(3)
    np.testing.assert_array_equal(run(after, {"x": x})["z"], run(proto, {"x": x})["z"])


def test_an_add_that_cann_does_not_fuse_is_skipped() -> None:
    edited = ir.from_proto(onnx.shape_inference.infer_shapes(erf_plus(2)))

    (found,) = UnfuseGelu()(edited)

    assert isinstance(found, Skipped)
    assert "what it adds to an Erf is not 1" in found.reason
