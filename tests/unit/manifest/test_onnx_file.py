from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from ascendflow import vocabulary
from ascendflow.errors import UsageError
from ascendflow.manifest.onnx_file import ModelInput, fixed_shapes, read_onnx
from tests.unit.manifest import models

if TYPE_CHECKING:
    from pathlib import Path


def test_inputs_are_read_with_dtype_and_open_dimensions(tmp_path: Path) -> None:
    inputs = {"a": [1, "n", None, -1], "b": [], "c": None}
    file = read_onnx(models.identity(tmp_path / "m.onnx", inputs, dtype=TensorProto.DOUBLE))

    assert file.inputs == (
        ModelInput("a", "float64", (1, "n", None, None)),
        ModelInput("b", "float64", ()),
        ModelInput("c", "float64", None),
    )


def test_initializers_among_the_inputs_are_none(tmp_path: Path) -> None:
    """GR01."""
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "w")]
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    file = read_onnx(models.save(tmp_path / "m.onnx", values, [add], [weight]))

    assert [each.name for each in file.inputs] == ["x"]


def test_input_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = models.identity(tmp_path / "m.onnx", {"NAME": [1]})
    path.write_bytes(path.read_bytes().replace(b"NAME", b"\xffAME"))

    with pytest.raises(UsageError, match=r"not UTF-8: b'\\xffAME'"):
        read_onnx(path)


@pytest.mark.parametrize(
    ("dtype", "said"),
    [
        (TensorProto.STRING, "string"),
        (TensorProto.COMPLEX64, "complex64"),
        (0, "undefined"),
    ],
)
def test_element_type_that_no_target_takes_is_refused(
    tmp_path: Path, dtype: int, said: str
) -> None:
    path = models.identity(tmp_path / "m.onnx", {"x": [1]}, dtype=dtype)

    with pytest.raises(UsageError, match=f"'x' has the element type {said}"):
        read_onnx(path)


def test_sequence_input_is_refused_by_name_and_kind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'s' is no tensor but of kind sequence"):
        read_onnx(models.sequence_input(tmp_path / "m.onnx"))


@pytest.mark.parametrize(
    ("given", "built"),
    [({}, (0, 8)), ({"x": (0, 8)}, (0, 8)), ({"x": (2, 8)}, (2, 8))],
    ids=["own", "same", "other"],
)
def test_size_of_0_is_taken_as_it_is_unless_another_is_given(
    given: dict[str, tuple[int, ...]], built: tuple[int, ...], tmp_path: Path
) -> None:
    """SH05. Some exporters write 0 for "any size", so --shape may say otherwise."""
    file = read_onnx(models.identity(tmp_path / "m.onnx", {"x": [0, 8]}))

    assert fixed_shapes(file, given) == {"x": built}


def test_model_without_input_is_refused(tmp_path: Path) -> None:
    constant = helper.make_node("Constant", [], ["y"], value_float=1.0)

    with pytest.raises(UsageError, match="has no input"):
        read_onnx(models.save(tmp_path / "m.onnx", [], [constant]))


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"not onnx at all", b"\xff" * 64])
def test_file_that_is_no_onnx_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)

    with pytest.raises(UsageError, match=r"is no ONNX file|is not an ONNX file"):
        read_onnx(path)


def test_file_beyond_protobufs_limit_is_refused_by_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GR29."""
    path = models.identity(tmp_path / "m.onnx", {"x": [1]})
    monkeypatch.setattr(vocabulary, "ONNX_FILE_LIMIT", 10)  # 2 GiB in earnest

    with pytest.raises(
        UsageError, match=r"has \d+ bytes; an ONNX file holds less"
    ) as caught:
        read_onnx(path)

    assert "save_as_external_data=True" in str(caught.value.hint)


def test_two_inputs_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])] * 2
    nodes = [helper.make_node("Add", ["x", "x"], ["y"])]
    path = models.save(tmp_path / "m.onnx", twice, nodes)

    with pytest.raises(UsageError, match="two inputs have the name 'x'"):
        read_onnx(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize("where", ["initializer", "attribute", "subgraph"])
def test_external_data_is_found_wherever_it_hangs(tmp_path: Path, where: str) -> None:
    path = models.with_external(tmp_path / "m.onnx", "deep/w.bin", where=where)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "w.bin").write_bytes(bytes(16))

    assert read_onnx(path).external == {"deep/w.bin": tmp_path / "deep" / "w.bin"}


@pytest.mark.parametrize(
    "location",
    [
        *("../w.bin", "a/../../w.bin", "/etc/hostname", "", "..\\w.bin"),
        *("w.bin\0", "\x1b[31m", "w" * 3000),
    ],
)
def test_external_data_that_leaves_the_folder_is_refused_by_tensor_and_path(
    tmp_path: Path, location: str
) -> None:
    """GR26."""
    (tmp_path / "w.bin").write_bytes(bytes(16))
    path = models.with_external(tmp_path / "in" / "m.onnx", location)

    with pytest.raises(UsageError, match="tensor 'w'") as caught:
        read_onnx(path)

    assert repr(location) in caught.value.message


def test_external_data_behind_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """GR26."""
    (tmp_path / "w.bin").write_bytes(bytes(16))
    path = models.with_external(tmp_path / "in" / "m.onnx", "w.bin")
    (tmp_path / "in" / "w.bin").symlink_to(tmp_path / "w.bin")

    with pytest.raises(UsageError, match="leaves the folder"):
        read_onnx(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.onnx")

    with pytest.raises(UsageError, match=r"m\.onnx: is no file"):
        read_onnx(tmp_path / "m.onnx")


def test_missing_external_data_is_refused(tmp_path: Path) -> None:
    """GR25."""
    with pytest.raises(
        UsageError, match=r"tensor 'w': its external data 'w\.bin' does not exist"
    ):
        read_onnx(models.with_external(tmp_path / "m.onnx", "w.bin"))


@pytest.mark.parametrize(
    ("sizes", "example"),
    [
        pytest.param(["n", 3, "h", "w"], "1,3,224,224", id="channels-first"),
        pytest.param(["n", "h", "w", 3], "1,224,224,3", id="channels-last"),
        pytest.param(["n", 3, "h", 8], "1,3,224,8", id="one-way"),
        pytest.param(["n", "t"], "1,1", id="no-picture"),
        pytest.param(["n", 80, "t"], "1,80,1", id="sound"),
    ],
)
def test_example_for_a_picture_is_224_each_way(
    tmp_path: Path, sizes: list[int | str | None], example: str
) -> None:
    file = read_onnx(models.identity(tmp_path / "m.onnx", {"image": sizes}))

    with pytest.raises(UsageError) as caught:
        fixed_shapes(file, {})

    assert caught.value.hint == f"say what to build for, e.g. --shape image:{example}"


def test_dimension_without_a_name_is_a_question_mark(tmp_path: Path) -> None:
    file = read_onnx(
        models.identity(tmp_path / "m.onnx", {"image": ["batch", 3, None, -1]})
    )
    with pytest.raises(UsageError, match=r"image \[batch, 3, \?, \?\]") as caught:
        fixed_shapes(file, {})

    assert caught.value.hint == "say what to build for, e.g. --shape image:1,3,224,224"


def test_given_shapes_fill_in_dynamic_dimensions(tmp_path: Path) -> None:
    file = read_onnx(
        models.identity(tmp_path / "m.onnx", {"a": [1, "n"], "b": [2], "c": None})
    )

    assert fixed_shapes(file, {"a": (1, 5), "c": ()}) == {"a": (1, 5), "b": (2,), "c": ()}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(
            {}, "dynamic dimensions: a [1, n], c [of unknown rank]", id="lists-all"
        ),
        pytest.param({"a": (1, 5)}, "dynamic dimensions: c", id="one-left"),
        pytest.param({"d": (1,)}, "'d' is no input of ", id="unknown-name"),
        pytest.param(
            {"a": (2, 5)}, "a:2,5 does not fit the model's [1, n]", id="other-size"
        ),
        pytest.param({"a": (5,)}, "a:5 does not fit the model's [1, n]", id="other-rank"),
    ],
)
def test_shape_that_does_not_do_is_refused(tmp_path: Path, given: Any, said: str) -> None:
    file = read_onnx(
        models.identity(tmp_path / "m.onnx", {"a": [1, "n"], "b": [2], "c": None})
    )

    with pytest.raises(UsageError) as caught:
        fixed_shapes(file, given)

    assert said in caught.value.message
    assert caught.value.hint is None or "a" in caught.value.hint
