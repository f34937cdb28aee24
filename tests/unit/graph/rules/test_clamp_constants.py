from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.graph.load import load_model
from ascendflow.graph.rule import Skipped
from ascendflow.graph.rules.clamp_constants import ClampConstants
from tests.editing import applied, constants, edited, why_skipped
from tests.models import F32, masked_softmax, model, node

if TYPE_CHECKING:
    from pathlib import Path


def added(constant: np.ndarray) -> onnx.ModelProto:
    nodes = [node("Add", ["x", "k"], ["y"])]
    return model(nodes, [("x", [3])], [("y", [3])], {"k": constant})


def test_only_what_is_beyond_changes() -> None:
    proto = added(np.array([1.25, 1e6, -np.inf], F32))

    after = applied(ClampConstants(), proto)

    assert constants(after)["k/clamped"].tolist() == [1.25, 65504, -65504]
    assert after.graph.node[0].name == "y"


def test_another_reader_keeps_the_old_constant() -> None:
    nodes = [node("Add", ["x", "k"], ["y"]), node("Max", ["x", "k"], ["z"])]
    shapes = [("y", [3]), ("z", [3])]
    proto = model(nodes, [("x", [3])], shapes, {"k": np.full(3, 1e9, F32)})

    after = applied(ClampConstants(), proto)

    assert [list(n.input) for n in after.graph.node] == [["x", "k/clamped"], ["x", "k"]]


def test_a_constant_node_is_a_constant() -> None:
    value = onnx.numpy_helper.from_array(np.full(3, 1e9, F32))
    nodes = [node("Constant", [], ["k"], value=value), node("Add", ["x", "k"], ["y"])]
    proto = model(nodes, [("x", [3])], [("y", [3])])

    after = applied(ClampConstants(), proto)

    assert constants(after)["k/clamped"].tolist() == [65504] * 3


def test_what_fits_is_skipped() -> None:
    proto = added(np.array([0, 65504, np.nan], F32))

    assert why_skipped(ClampConstants(), proto) == "no constant is beyond +-65504"


def test_masks_are_left_to_their_own_rule() -> None:
    findings, after = edited(ClampConstants(), masked_softmax())

    reasons = {f.node.name: f.reason for f in findings if isinstance(f, Skipped)}
    assert "'clamp-mask' has it" in reasons["gnn_mul"]
    assert after.graph.node == masked_softmax().graph.node


@pytest.mark.parametrize("op_type", ["Max", "Min"])
def test_bounds_are_not_looked_at(op_type: str) -> None:
    proto = added(np.full(3, 1e9, F32))
    proto.graph.node[0].op_type = op_type

    assert edited(ClampConstants(), proto)[0] == []


def test_large_external_constants_are_skipped_by_name(tmp_path: Path) -> None:
    array = np.full(2**20 + 1, 1e9, F32)
    nodes = [node("Add", ["x", "k"], ["y"])]
    proto = model(nodes, [("x", [1])], [("y", [array.size])], {"k": array})
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w", size_threshold=0)

    (finding,) = ClampConstants()(load_model(path))

    assert isinstance(finding, Skipped)
    assert finding.reason == "k: external data of more than 4194304 bytes, not read"
