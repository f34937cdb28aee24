"""A folder of dumps as ONNX tensors, against the arrays that were laid out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.cann.dump.computed import computed
from ascendflow.backends.cann.dump.origins import DeviceOp, Output
from ascendflow.errors import StageError
from tests.dump_files import dump, tensor

if TYPE_CHECKING:
    from pathlib import Path

FLOAT, ND, NC1HWC0, FRACTAL_Z_C04 = 1, 2, 3, 13
OUTPUTS = {"relu": ["r"], "add": ["a"]}
ARRAY = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)


def operator(name: str, node: str, shape: tuple[int, ...] | None = None) -> DeviceOp:
    output = Output(node, 0, told=True, layout="NCHW", shape=shape)
    return DeviceOp(name, "Conv2D", (node,) if node else (), "", (output,))


OPS = (
    operator("conv/relu", "relu"),
    operator("trans", ""),
    operator("add", "add", ARRAY.shape),
)


def laid() -> bytes:
    """ARRAY as 1 x 1 x 4 x 2 x 8."""
    made = np.zeros((1, 1, 4, 2, 8), np.float32)
    made[..., :3] = ARRAY.reshape(1, 3, 4, 2).transpose(0, 2, 3, 1)[:, None]
    return made.tobytes()


PLANES = tensor(laid(), FLOAT, NC1HWC0, [1, 1, 4, 2, 8], ARRAY.shape)


def write(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)


def test_tensors_are_named_turned_back_and_in_the_order_of_time(tmp_path: Path) -> None:
    untold = tensor(
        laid(), FLOAT, NC1HWC0, [1, 1, 4, 2, 8]
    )  # its shape is the OM's to tell
    write(tmp_path, "Add.add.1.30", dump(outputs=[untold], op_name="add"))
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[PLANES], op_name="conv/relu"))
    write(tmp_path, "TransData.trans.3.25", dump(outputs=[PLANES], op_name="trans"))

    found = computed(tmp_path, OPS, OUTPUTS, pytest.fail)

    assert list(found) == ["r", "a"]
    assert found["r"].op.name == "conv/relu"
    for each in found.values():
        np.testing.assert_array_equal(each.load(), ARRAY)


def test_file_that_does_not_tell_its_operator_is_known_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[PLANES]))

    assert list(computed(tmp_path, OPS, OUTPUTS, pytest.fail)) == ["r"]
    twins = (*OPS, operator("conv.relu", "relu"))
    with pytest.raises(StageError, match="operators that the OM has not: conv_relu"):
        computed(tmp_path, twins, OUTPUTS, pytest.fail)


def test_name_in_the_file_counts_before_the_files_name(tmp_path: Path) -> None:
    """Two operators may be spelled alike, and long names are no names."""
    twins = (*OPS, operator("conv.relu", ""))
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[PLANES], op_name="conv/relu"))
    write(tmp_path, "Add.another.1.30", dump(outputs=[PLANES], op_name="add"))

    assert list(computed(tmp_path, twins, OUTPUTS, pytest.fail)) == ["r", "a"]


def test_last_run_of_an_operator_counts(tmp_path: Path) -> None:
    other: Any = tensor(bytes(256), FLOAT, NC1HWC0, [1, 1, 4, 2, 8], ARRAY.shape)
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[PLANES], op_name="conv/relu"))
    write(tmp_path, "Conv2D.conv_relu.2.9", dump(outputs=[other], op_name="conv/relu"))

    np.testing.assert_array_equal(
        computed(tmp_path, OPS, OUTPUTS, pytest.fail)["r"].load(), ARRAY
    )


def test_tensor_of_an_operator_that_ran_again_stands_where_it_ran_last(
    tmp_path: Path,
) -> None:
    add = tensor(laid(), FLOAT, NC1HWC0, [1, 1, 4, 2, 8], ARRAY.shape)
    for time in (10, 30):
        data = dump(outputs=[PLANES], op_name="conv/relu")
        write(tmp_path, f"Conv2D.conv_relu.2.{time}", data)
    write(tmp_path, "Add.add.1.20", dump(outputs=[add], op_name="add"))

    assert list(computed(tmp_path, OPS, OUTPUTS, pytest.fail)) == ["a", "r"]


def test_shape_that_the_dump_tells_is_taken_before_the_oms(tmp_path: Path) -> None:
    """The OM's is of the largest gear; the dump is of the run."""
    larger = (operator("add", "add", (2, *ARRAY.shape[1:])),)
    write(tmp_path, "Add.add.1.20", dump(outputs=[PLANES], op_name="add"))

    found = computed(tmp_path, larger, OUTPUTS, pytest.fail)["a"].load()

    np.testing.assert_array_equal(found, ARRAY)


def test_dumps_of_another_model_are_refused_all_at_once(tmp_path: Path) -> None:
    for number in range(7):
        data = dump(outputs=[PLANES], op_name=f"op{number}")
        write(tmp_path, f"Conv2D.op{number}.1.{number}", data)

    with pytest.raises(
        StageError, match=r"7 dumps are .*: op0, op1, op2, op3, op4, \.\.\."
    ):
        computed(tmp_path, OPS, OUTPUTS, pytest.fail)


def test_dump_of_another_operator_is_told_beside_those_that_the_om_has(
    tmp_path: Path,
) -> None:
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[PLANES], op_name="conv/relu"))
    write(tmp_path, "MemSet.other.3.21", dump(outputs=[PLANES], op_name="other"))
    warned: list[str] = []

    assert list(computed(tmp_path, OPS, OUTPUTS, warned.append)) == ["r"]
    assert warned == ["1 dumps are of operators that the OM has not: other"]


def test_dump_with_too_few_outputs_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "Conv2D.conv_relu.2.20", dump([PLANES], op_name="conv/relu"))

    with pytest.raises(StageError, match="has 0 outputs, conv/relu has 1"):
        computed(tmp_path, OPS, OUTPUTS, pytest.fail)


def test_tensor_whose_layout_is_not_read_is_refused_by_its_name(tmp_path: Path) -> None:
    strange = tensor(laid(), FLOAT, FRACTAL_Z_C04, [1, 1, 4, 2, 8], ARRAY.shape)
    write(tmp_path, "Conv2D.conv_relu.2.20", dump(outputs=[strange], op_name="conv/relu"))

    with pytest.raises(
        StageError, match=r"'r' of relu: FRACTAL_Z_C04 .* is not turned into"
    ):
        computed(tmp_path, OPS, OUTPUTS, pytest.fail)["r"].load()
