"""The samples are those of ATC's documents of each option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cann.setting_files import settings_in
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

MIXLIST = """{
  "black-list": {"to-remove": ["OpTypeA"], "to-add": ["OpTypeB"]},
  "white-list": {"to-remove": ["OpTypeC", "OpTypeB"], "to-add": ["OpTypeD"]}
}"""


def read(folder: Path, option: str, content: str | bytes) -> Any:
    file = folder / f"{option}.cfg"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return settings_in({option: file})[option]


def test_nodes_and_types_that_are_kept(tmp_path: Path) -> None:
    text = "#a name\nfp32_vars/Relu\n\n  OpType::Relu\r\n"

    assert read(tmp_path, "keep_dtype", text) == ["fp32_vars/Relu", "OpType::Relu"]


def test_what_is_only_removed_from_a_list_is_gray(tmp_path: Path) -> None:
    assert read(tmp_path, "modify_mixlist", MIXLIST) == {
        "white": ["OpTypeD"],
        "black": ["OpTypeB"],
        "gray": ["OpTypeC", "OpTypeA"],
    }


def test_types_of_a_node_and_of_an_operator(tmp_path: Path) -> None:
    text = (
        "fp32_vars/Relu::InputDtype:float16,OutputDtype:int8\n"
        "OpType::Add:InputDtype:float16,float32,OutputDtype:float16\n"
        "a:b::InputDtype:float16,OutputDtype:float16\n"
    )

    assert read(tmp_path, "customize_dtypes", text) == {
        "fp32_vars/Relu": {"inputs": ["float16"], "outputs": ["int8"]},
        "OpType::Add": {"inputs": ["float16", "float32"], "outputs": ["float16"]},
        "a:b": {"inputs": ["float16"], "outputs": ["float16"]},
    }


@pytest.mark.parametrize(
    ("option", "content", "told"),
    [
        ("customize_dtypes", "\nRelu: float16", "line 2: is not `name::InputDtype:a,"),
        ("modify_mixlist", '{"white-list": ', "line 1: is no JSON"),
        ("modify_mixlist", "[]", "must be a mapping"),
        ("modify_mixlist", '{"white-list": {"to-add": [1]}}', "to-add must be a list"),
        ("keep_dtype", b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_file_of_another_form_is_refused_by_its_line(
    tmp_path: Path, option: str, content: str | bytes, told: str
) -> None:
    with pytest.raises(StageError) as caught:
        read(tmp_path, option, content)

    assert caught.value.message.startswith(f"convert.{option}: {option}.cfg: ")
    assert told in caught.value.message


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    assert settings_in({"insert_op_conf": tmp_path / "aipp.cfg"}) == {}
