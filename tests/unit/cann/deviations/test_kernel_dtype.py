"""Nodes of which no kernel takes the types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import Linted, convert, linted
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

KEEP = {"precision_mode": "must_keep_origin_dtype"}


def pools() -> onnx.ModelProto:
    window = {"kernel_shape": [2, 2]}
    nodes = [
        node("MaxPool", ["x"], ["a"], **window),
        node("Relu", ["a"], ["r"]),
        node("MaxPool", ["r"], ["y"], **window),
    ]
    return model(nodes, [("x", [1, 2, 4, 4])], [("y", ["a", "b", "c", "d"])])


def exp() -> onnx.ModelProto:
    return model([node("Exp", ["x"], ["y"])], [("x", [2])], [("y", [2])])


def conv() -> onnx.ModelProto:
    weights = {"w": np.ones((2, 2, 1, 1), F32)}
    nodes = [node("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1])]
    return model(nodes, [("x", [1, 2, 4, 4])], [("y", ["a", "b", "c", "d"])], weights)


@pytest.mark.parametrize(
    ("proto", "config", "expected"),
    [
        (pools(), KEEP, [("a", "rejected"), ("y", "rejected")]),
        (pools(), {"keep_dtype": ["y"]}, [("y", "rejected")]),
        (pools(), {}, []),
        (pools(), {**KEEP, "soc_version": "Ascend910B1"}, []),
        (exp(), {**KEEP, "soc_version": "Ascend310"}, [("y", "unknown")]),
        (exp(), KEEP, []),
        (conv(), KEEP, [("y", "unknown")]),
        (conv(), {"keep_dtype": ["OpType::Conv2D"]}, [("y", "unknown")]),
        (conv(), {**KEEP, "soc_version": "Ascend310B1"}, []),
        (
            exp(),
            {"customize_dtypes": {"y": {"outputs": ["int8"]}}},
            [("y", "rejected")],
        ),
    ],
)
def test_lint_lists_what_no_kernel_takes(
    proto: onnx.ModelProto, config: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    found = [Linted(name, "kernel-dtype", consequence) for name, consequence in expected]

    assert linted(proto, **config) == found


def test_convert_refuses_and_names_every_node(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        convert(pools(), tmp_path, **KEEP)

    assert "node 'a' (MaxPool)" in caught.value.message
    assert "node 'y' (MaxPool)" in caught.value.message
    assert "nor has AI CPU" in caught.value.message


def test_what_nothing_is_known_of_is_not_approximated(tmp_path: Path) -> None:
    with pytest.raises(NotModelledError, match=r"'y' \(Exp\): .*AI CPU's is not known"):
        convert(exp(), tmp_path, soc_version="Ascend310", **KEEP)


def test_a_node_with_another_gap_is_named_once(tmp_path: Path) -> None:
    proto = model([node("RandomNormalLike", ["x"], ["y"])], [("x", [2])], [("y", [2])])

    with pytest.raises(NotModelledError) as caught:
        convert(proto, tmp_path, **KEEP, soc_version="Ascend310")

    assert caught.value.message.count("'y'") == 1
