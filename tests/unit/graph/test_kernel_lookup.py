from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from ascendflow.graph import kernel_lookup
from ascendflow.graph.load import load_model
from tests.models import model, node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHOLE = (
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
)
OPERATORS = ("Abs", "Add", "Clip", "Max", "Min", "Mod", "Relu", "Sign", "Where", "Xor")
OPSETS = (10, 11, 14, 17)


def of_type(op_type: str, dtype: int, opset: int) -> onnx.ModelProto:
    """One node, each of whose inputs is `dtype`, but for Where's condition."""
    version = onnx.defs.get_schema(op_type, opset, "")
    count = max(version.min_input, 2 if version.max_input > 100 else 1)
    inputs = [(f"x{i}", [2], dtype) for i in range(count)]
    if op_type == "Where":
        inputs[0] = ("x0", [2], TensorProto.BOOL)
    made = node(op_type, [name for name, _, _ in inputs], ["y"], name="n")
    return model([made], inputs, [("y", [2], dtype)], opset=opset)


def is_loaded(proto: onnx.ModelProto) -> bool:
    try:
        ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    except state.NotImplemented:
        return False
    return True


def is_valid(proto: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(proto, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


@pytest.fixture(params=["listed", "not listed"])
def lookup(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[kernel_lookup.KernelLookup]:
    """With the kernels that onnxruntime lists, and as where it was built without."""
    kernel_lookup._kernels.cache_clear()
    if request.param == "not listed":
        monkeypatch.delattr(state, "get_all_opkernel_def")
    yield kernel_lookup.KernelLookup()
    kernel_lookup._kernels.cache_clear()


@pytest.mark.parametrize("op_type", OPERATORS)
def test_it_says_what_onnxruntime_does(
    op_type: str, lookup: kernel_lookup.KernelLookup, tmp_path: Path
) -> None:
    said, done = {}, {}
    for opset in OPSETS:
        for dtype in WHOLE:
            proto = of_type(op_type, dtype, opset)
            if not is_valid(proto):
                continue
            onnx.save(proto, tmp_path / "m.onnx")
            (loaded,) = load_model(tmp_path / "m.onnx").graph
            loaded.version = opset
            said[opset, dtype] = lookup.has_kernel(loaded)
            done[opset, dtype] = is_loaded(proto)

    assert said == done


def test_it_is_not_fooled_by_what_it_knows_nothing_of(tmp_path: Path) -> None:
    """Types that were not inferred, bodies, and an operator that ONNX does not have."""
    branch = helper.make_graph(
        [node("Constant", [], ["k"], value=helper.make_tensor("k", 6, [1], [1]))],
        "g",
        [],
        [helper.make_tensor_value_info("k", TensorProto.INT32, [1])],
    )
    proto = model(
        [node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)],
        [("c", [], TensorProto.BOOL)],
        [("y", [1], TensorProto.INT32)],
    )
    onnx.save(proto, tmp_path / "m.onnx")
    (choose,) = load_model(tmp_path / "m.onnx").graph
    lookup = kernel_lookup.KernelLookup()
    choose.version = None
    assert lookup.has_kernel(choose)
    choose.version = 17
    assert lookup.has_kernel(choose)
    choose.op_type = "Mine"
    assert lookup.has_kernel(choose)
