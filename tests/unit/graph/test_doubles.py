"""DT08, and the places in which a graph can hold float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from ascendflow.graph.doubles import InFloat32, narrowed, nodes_in_float64
from ascendflow.graph.run import OnnxModel
from tests import models
from tests.models import model, node

if TYPE_CHECKING:
    from pathlib import Path

DOUBLE = TensorProto.DOUBLE
BIG = np.array([2.0**53, 1.0, -(2.0**53)])


def saved(proto: onnx.ModelProto, tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    return path


def told(proto: onnx.ModelProto, tmp_path: Path, **fed: np.ndarray) -> list[str]:
    """Run one sample, and return what is said of float64."""
    path = saved(proto, tmp_path)
    with InFloat32(path) as narrow:
        narrow.add("s0", fed, OnnxModel(path).run(fed))
        return list(narrow.warnings())


def test_model_without_float64_is_neither_inferred_nor_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.ones((1, 2, 16), np.float32)
    monkeypatch.delattr(onnx.shape_inference, "infer_shapes")

    assert told(models.layer_norm(), tmp_path, x=x) == []


def test_float64_input_and_output_are_narrowed_too(tmp_path: Path) -> None:
    proto = model(
        [node("Add", ["x", "c"], ["a"]), node("Sub", ["a", "c"], ["y"])],
        [("x", [2], DOUBLE)],
        [("y", [2], DOUBLE)],
        {"c": np.array(1e9)},
    )
    # float32 has steps of 64 at 1e9.
    (warning,) = told(proto, tmp_path, x=np.array([1.0, 31.0]))

    assert warning.startswith("float64 in 'a', 'y', which targets take for float32 or")
    assert "in float32 output 'y' would be up to 31 off, over a range of 30" in warning


CONSTANTS: dict[str, dict[str, Any]] = {
    "constant": {"op_type": "Constant", "value": numpy_helper.from_array(BIG)},
    "filled": {
        "op_type": "ConstantOfShape",
        "value": numpy_helper.from_array(np.array([1 / 3])),
    },
    "cast": {"op_type": "Cast", "to": DOUBLE},
    "eye": {"op_type": "EyeLike", "dtype": DOUBLE},
}


@pytest.mark.parametrize("form", CONSTANTS)
def test_float64_is_found_and_narrowed_in_every_form(form: str, tmp_path: Path) -> None:
    attributes = dict(CONSTANTS[form])
    op_type = attributes.pop("op_type")
    inputs = {"constant": [], "filled": ["shape"], "cast": ["x"], "eye": ["x"]}[form]
    proto = model(
        [
            node(op_type, inputs, ["wide"], **attributes),
            node("Mul", ["wide", "wide"], ["square"], name="square"),
            node("Cast", ["square"], ["y"], to=TensorProto.FLOAT),
            node("Abs", ["x"], ["z"]),
        ],
        [("x", [3, 3])],
        [("y", ["n", "m"] if form in ("cast", "eye") else ["n"]), ("z", [3, 3])],
        {"shape": np.array([2], np.int64)},
    )
    path = saved(proto, tmp_path)
    narrow = narrowed(path)
    onnx.checker.check_model(narrow, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(narrow).graph
    kinds = {v.type.tensor_type.elem_type for v in inferred.value_info}

    assert nodes_in_float64(path)[-1] == "square"
    assert DOUBLE not in kinds
    (warning,) = told(proto, tmp_path, x=np.eye(3, dtype=np.float32) / 3)
    assert "output 'z' stays the same in float32" in warning


def test_float64_inside_a_branch_is_narrowed(tmp_path: Path) -> None:
    def branch(name: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info(name, DOUBLE, [1])
        constant = node("Constant", [], [name], value=numpy_helper.from_array(BIG[:1]))
        return helper.make_graph([constant], name, [], [out])

    proto = model(
        [
            node("If", ["c"], ["w"], then_branch=branch("t"), else_branch=branch("e")),
            node("Cast", ["w"], ["y"], to=TensorProto.FLOAT),
        ],
        [("c", [], TensorProto.BOOL)],
        [("y", [1])],
    )
    (warning,) = told(proto, tmp_path, c=np.array(True))

    assert warning.startswith("float64 in 'w'")
    assert "output 'y' stays the same in float32" in warning


def test_long_list_of_nodes_is_cut(tmp_path: Path) -> None:
    names = [f"n{k}" for k in range(8)]
    chain = [node("Neg", [a], [b]) for a, b in zip(["x", *names], names, strict=False)]
    proto = model(chain, [("x", [3], DOUBLE)], [("n7", [3], DOUBLE)])

    assert "'n0', 'n1', 'n2', 'n3', 'n4' and 3 more" in told(proto, tmp_path, x=BIG)[0]


def test_narrow_model_that_cannot_be_had_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto = model([node("Neg", ["x"], ["y"])], [("x", [3], DOUBLE)], [("y", [3], DOUBLE)])

    def too_large(_path: Path) -> onnx.ModelProto:
        raise ValueError("more than 2 GiB")

    monkeypatch.setattr("ascendflow.graph.doubles.narrowed", too_large)

    (warning,) = told(proto, tmp_path, x=BIG)
    assert "what float32 would change there cannot be told: more than 2 GiB" in warning
