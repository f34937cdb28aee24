"""ArgMax and ArgMin: the type of what they give, and the last of equal extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.errors import StageError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

INT64 = TensorProto.INT64


def arg(op_type: str, *nodes: onnx.NodeProto, last: int = 0) -> onnx.ModelProto:
    """Make i = op_type of x (3 x 5) along the last axis; then `nodes`; y is the output."""
    output = "i" if nodes else "y"
    made = node(op_type, ["x"], [output], name="arg", axis=-1, select_last_index=last)
    outputs: list[Any] = [("y", [3, 1], INT64)]
    one = {"one": np.array(1, np.int64)}
    return model([made, *nodes], [("x", [3, 5])], outputs, one)


ADDED = node("Add", ["i", "one"], ["y"], name="add")
X = {"x": np.array([[1, 3, 3, 0, 3], [2, 2, 2, 2, 2], [-1, -5, 4, -5, 4]], F32)}


@pytest.mark.parametrize("soc_version", ["Ascend310P3", "Ascend910B1"])
@pytest.mark.parametrize("cann", ["6.0", "8.1", "9.1"])
def test_argmin_gives_int32_everywhere(soc_version: str, cann: str, tmp_path: Path) -> None:
    kind = {"soc_version": soc_version, "cann": cann}
    added = arg("ArgMin", ADDED)
    added.opset_import[0].version = 15
    plain = arg("ArgMin")
    plain.opset_import[0].version = 15

    assert linted(plain, **kind) == [("arg", "arg-int32", "precision")]
    assert linted(added, **kind) == [("arg", "arg-int32", "rejected")]
    with pytest.raises(StageError, match=r"'arg' \(ArgMin\): .*'add' \(Add\)"):
        convert(added, tmp_path, **kind)
    assert linted(cured(added, "indices-to-int64"), **kind) == []


@pytest.mark.parametrize("op_type", ["ArgMin", "ArgMax"])
@pytest.mark.parametrize("soc_version", ["Ascend310P3", "Ascend910B1"])
def test_only_the_type_is_another(op_type: str, soc_version: str) -> None:
    """The numbers are numpy's: the first of equal extremes, as far as int32 reaches."""
    y = emulate(arg(op_type), X, soc_version=soc_version)["y"]

    by_numpy = np.argmin if op_type == "ArgMin" else np.argmax
    np.testing.assert_array_equal(y[:, 0], by_numpy(X["x"], axis=-1))


def test_a_cast_makes_argmin_convert_and_agree() -> None:
    proto = arg("ArgMin", ADDED)

    y = emulate(cured(proto, "indices-to-int64"), X, **FP32)["y"]

    np.testing.assert_array_equal(y, run(proto, X)["y"])


@pytest.mark.parametrize(
    ("soc_version", "found"),
    [
        ("Ascend310", [("arg", "arg-int32", "precision")]),
        ("Ascend310P3", [("arg", "arg-int32", "precision")]),
        ("Ascend310B1", [("arg", "arg-int32", "precision")]),
        ("Ascend910B1", []),
        ("Ascend910A", []),
    ],
)
def test_argmax_gives_int32_where_the_kernel_has_no_other(
    soc_version: str, found: list[tuple[str, str, str]]
) -> None:
    assert linted(arg("ArgMax"), soc_version=soc_version) == found
    assert linted(arg("ArgMax", ADDED), soc_version=soc_version) == []


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("cann", ["8.1", "9.1"])
def test_the_last_of_equal_extremes_is_rejected_and_the_rule_finds_it(
    op_type: str, cann: str, tmp_path: Path
) -> None:
    proto = arg(op_type, last=1)
    kind = {**FP32, "cann": cann}

    found = [f for f in linted(proto, **kind) if f.deviation == "arg-last-index"]
    assert found == [("arg", "arg-last-index", "rejected")]
    with pytest.raises(StageError, match=r"'arg' \(.*select_last_index is 1"):
        convert(proto, tmp_path, **kind)

    expected = run(proto, X)["y"]
    assert not np.array_equal(expected, run(arg(op_type), X)["y"])  # or nothing is tested
    edited = cured(proto, "arg-last-index")
    np.testing.assert_array_equal(run(edited, X)["y"], expected)
    np.testing.assert_array_equal(emulate(edited, X, **kind)["y"], expected)


def test_the_first_of_equal_extremes_is_harmless() -> None:
    assert linted(arg("ArgMax"), **FP32) == []
