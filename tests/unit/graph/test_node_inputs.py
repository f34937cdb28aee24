from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.ingest import accept
from ascendflow.graph.load import load_model, load_to_look
from ascendflow.graph.node_inputs import MOST_INPUTS, why_not_these
from ascendflow.tensors import TensorSpec
from tests.models import model, node, resize

if TYPE_CHECKING:
    from pathlib import Path


def of(op_type: str, inputs: list[str], **attributes: int) -> onnx.ModelProto:
    made = node(op_type, inputs, ["y"], name="n", **attributes)
    return model([made], [("x", [1, 4])], [("y", [1, 4])])


@pytest.mark.parametrize("op_type", ["Max", "Min", "Sum", "Mean", "Concat"])
def test_a_variadic_operator_leaves_no_input_out(op_type: str) -> None:
    axis = {"axis": 0} if op_type == "Concat" else {}
    (told,) = why_not_these(of(op_type, ["x", "", "x", ""], **axis))

    assert told.startswith(f"node 'n' ({op_type}) leaves out input 1, 3 of 4: ")
    assert list(why_not_these(of(op_type, ["x", "x"], **axis))) == []


def test_what_only_a_later_opset_may_leave_out_is_named() -> None:
    """RS04: the roi of Resize is optional from opset 13 on; onnxruntime refuses it."""
    proto = resize([1, 1, 2, 2], scales=[1, 1, 2, 2], opset=13)
    proto.graph.node[0].input[1] = ""
    assert list(why_not_these(proto)) == []

    proto.opset_import[0].version = 11

    (told,) = why_not_these(proto)
    assert told == (
        "node 'resize' (Resize) leaves out input 1 of 3: 'roi' cannot be left out"
    )
    proto.graph.node[0].input[0] = ""
    (told,) = why_not_these(proto)
    assert told.endswith("leaves out input 0, 1 of 3: 'X', 'roi' cannot be left out")


@pytest.mark.parametrize("inputs", [["x", "", "x"], ["x", "x", ""]])
def test_an_optional_input_may_be_left_out(inputs: list[str]) -> None:
    assert list(why_not_these(of("Clip", inputs))) == []


def test_one_inside_a_branch_is_found() -> None:
    outer = of("Relu", ["x"])
    body = onnx.helper.make_graph([node("Max", ["x", ""], ["m"], name="deep")], "b", [], [])
    outer.graph.node[0].attribute.append(onnx.helper.make_attribute("then_branch", body))

    (told,) = why_not_these(outer)

    assert told.startswith("node 'deep' (Max) leaves out input 1 of 2")


def test_more_inputs_than_are_edited_in_time_are_refused_with_both_numbers() -> None:
    many = of("Concat", ["x"] * (MOST_INPUTS + 1), axis=0)
    most = of("Concat", ["x"] * MOST_INPUTS, axis=0)

    assert list(why_not_these(many)) == [
        f"node 'n' (Concat) has {MOST_INPUTS + 1} inputs, of at most {MOST_INPUTS}"
    ]
    assert list(why_not_these(most)) == []


@pytest.mark.parametrize("load", [load_model, load_to_look])
def test_nothing_works_on_such_a_model(tmp_path: Path, load: object) -> None:
    """Over it onnxruntime ends the process, so nothing may come that far."""
    onnx.save(of("Max", ["x", ""]), tmp_path / "m.onnx")
    assert callable(load)

    with pytest.raises(StageError, match=r"m\.onnx: node 'n' \(Max\) leaves out input 1"):
        load(tmp_path / "m.onnx")


def test_no_pipeline_starts_from_it() -> None:
    specs = [TensorSpec("x", "float32", (1, 4))]

    with pytest.raises(StageError, match=r"m\.onnx: node 'n' \(Max\) leaves out input 1"):
        accept(of("Max", ["x", ""]), "m.onnx", specs, None)
