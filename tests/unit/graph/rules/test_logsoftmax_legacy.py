from __future__ import annotations

import numpy as np

from tests.emulation import cured
from tests.models import F32, model, node, run


def test_only_log_softmax_is_touched() -> None:
    proto = model(
        [node("Softmax", ["x"], ["s"]), node("LogSoftmax", ["s"], ["y"])],
        [("x", [2, 3, 4])],
        [("y", [2, 3, 4])],
        opset=11,
    )

    edited = cured(proto, "logsoftmax-legacy")

    assert [n.op_type for n in edited.graph.node] == [
        "Softmax",
        "Flatten",
        "LogSoftmax",
        "Reshape",
    ]
    x = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(F32)}
    np.testing.assert_array_equal(run(edited, x)["y"], run(proto, x)["y"])
