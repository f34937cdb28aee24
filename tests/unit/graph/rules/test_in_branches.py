"""Rules edit nodes inside a branch, with constants of the branch's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.emulation import cured
from tests.models import F32, model, node, run

INT64 = TensorProto.INT64


def branching(
    nodes: list[Any], constants: dict[str, Any], opset: int = 17
) -> onnx.ModelProto:
    """Make y = what `nodes` make of x (2 x 4 x 6) as t, if c, else x."""
    numbers = [
        onnx.numpy_helper.from_array(np.array(array, np.int64), name)
        for name, array in constants.items()
    ]
    out, same = (helper.make_tensor_value_info(name, 1, None) for name in "te")
    bodies = {
        "then_branch": helper.make_graph(nodes, "then", [], [out], numbers),
        "else_branch": helper.make_graph(
            [node("Identity", ["x"], ["e"])], "else", [], [same]
        ),
    }
    inputs: list[Any] = [("x", (2, 4, 6)), ("c", (), TensorProto.BOOL)]
    scale = {"s": np.ones(6, F32)}
    choice = node("If", ["c"], ["y"], **bodies)
    return model([choice], inputs, [("y", ("a", "b", "d"))], scale, opset)


def loop() -> Any:
    info = helper.make_tensor_value_info
    nodes = [node("Identity", ["go"], ["on"]), node("Mul", ["v", "v"], ["w"])]
    inputs = [info("i", INT64, []), info("go", TensorProto.BOOL, [])]
    v, w = info("v", 1, [2, 4, 6]), info("w", 1, [2, 4, 6])
    outputs = [info("on", TensorProto.BOOL, []), w]
    return helper.make_graph(nodes, "body", [*inputs, v], outputs)


@pytest.mark.parametrize(
    ("rule", "nodes", "constants", "opset"),
    [
        ("layer-norm-decompose", [node("LayerNormalization", ["x", "s"], ["t"])], {}, 17),
        ("mish-decompose", [node("Mish", ["x"], ["t"])], {}, 18),
        (
            "gather-non-negative",
            [node("Gather", ["x", "i"], ["t"], axis=1)],
            {"i": [0, -1]},
            17,
        ),
        ("int64-to-int32", [node("Gather", ["x", "i"], ["t"])], {"i": [1, 0]}, 17),
        (
            "pad-all-axes",
            [node("Pad", ["x", "p", "", "a"], ["t"])],
            {"p": [1, 2], "a": [1]},
            18,
        ),
        (
            "indices-to-int64",
            [
                node("TopK", ["x", "k"], ["v", "i"]),
                node("Add", ["i", "one"], ["j"]),
                node("Cast", ["j"], ["t"], to=TensorProto.FLOAT),
            ],
            {"k": [2], "one": 1},
            17,
        ),
        ("loop-unroll", [node("Loop", ["n", "", "x"], ["t"], body=loop())], {"n": 2}, 17),
    ],
)
def test_both_branches_give_what_they_gave(
    rule: str, nodes: list[Any], constants: dict[str, Any], opset: int
) -> None:
    proto = branching(nodes, constants, opset)
    edited = cured(proto, rule)

    x = np.random.default_rng(0).standard_normal((2, 4, 6)).astype(F32)
    for holds in (True, False):
        feeds: dict[str, np.ndarray] = {"x": x, "c": np.array(holds)}
        before, after = run(proto, feeds)["y"], run(edited, feeds)["y"]
        assert before.shape == after.shape
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-5)
