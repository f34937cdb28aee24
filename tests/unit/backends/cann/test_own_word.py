"""What is read here is held against OMs that protobuf wrote, and GE's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.own_word import own_word
from ascendflow.errors import StageError
from tests import om_files

if TYPE_CHECKING:
    from pathlib import Path


def folder(tmp_path: Path, content: bytes, name: str = "model.om") -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).write_bytes(content)
    return tmp_path / "model"


def test_om_is_known_by_its_attributes_and_header(tmp_path: Path) -> None:
    model = folder(tmp_path, om_files.static())
    word = own_word(model)
    assert word.path == model / "model.om"
    assert word[1:] == ("Ascend310P3", "7.7.0.1.238", "7.7.0.1.238", False, None)


@pytest.mark.parametrize("name", ["model.om", "model_linux_x86_64.om"])
def test_dynamic_om_names_the_host_that_it_needs(tmp_path: Path, name: str) -> None:
    dynamic = om_files.static({"host_env_cpu": "aarch64"}, unknown=1, host=1)
    assert own_word(folder(tmp_path, dynamic, name))[-2:] == (True, "aarch64")


def test_host_is_known_by_the_files_name_where_the_om_does_not_say(tmp_path: Path) -> None:
    content = om_files.static(unknown=1, host=1)
    word = own_word(folder(tmp_path, content, "model_linux_aarch64.om"))
    assert word.cpu == "aarch64"


def test_host_that_is_said_and_not_needed_is_none(tmp_path: Path) -> None:
    word = own_word(folder(tmp_path, om_files.static({"host_env_cpu": "aarch64"})))
    assert (word.is_dynamic, word.cpu) == (False, None)


def test_real_dynamic_file(shared: Path, tmp_path: Path) -> None:
    real = shared / "om/dynamic_and_static_graph_without_unfold.om"
    word = own_word(folder(tmp_path, real.read_bytes()))
    assert word[1:] == (None, None, "6.4.T5.0.B121", True, None)


def test_what_is_no_om_or_not_one_is_refused(tmp_path: Path) -> None:
    model = folder(tmp_path, om_files.static()[:-1])
    with pytest.raises(StageError, match=r"^infer: model\.om: .* byte"):
        own_word(model)
    (model / "other.om").touch()
    with pytest.raises(StageError, match=r"must hold one OM, holds model\.om, other\.om"):
        own_word(model)
    for file in model.iterdir():
        file.unlink()
    (model / "gone.om").symlink_to(model / "none")
    with pytest.raises(StageError, match=r"gone\.om: cannot be read: No such file"):
        own_word(model)
    (model / "gone.om").unlink()
    with pytest.raises(StageError, match="must hold one OM, holds none"):
        own_word(model)


def test_file_for_a_chip_without_linux_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"model\.exeom is for a chip that") as raised:
        own_word(folder(tmp_path, b"", "model.exeom"))
    assert "doit convert:<model>" in str(raised.value.hint)
