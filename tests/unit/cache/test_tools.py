from __future__ import annotations

import importlib.metadata
import os
import sys
import tomllib
from pathlib import Path

import pytest

from ascendflow.cache.tools import FOR_PYTORCH, versions
from ascendflow.errors import AscendflowError, ToolNotFoundError

REPOSITORY = Path(__file__).resolve().parents[3]


def installed(folder: Path, *names: str) -> str:
    for name in names:
        (folder / f"{name}.dist-info").mkdir(parents=True)
    return str(folder)


def test_versions_are_those_importlib_metadata_tells() -> None:
    names = ["onnx", "ruamel.yaml", "pydantic", "jsonschema"]

    assert versions(names) == {name: importlib.metadata.version(name) for name in names}


def test_any_spelling_of_a_name_is_found_and_kept(tmp_path: Path) -> None:
    path = [installed(tmp_path, "ruamel_yaml-0.19.1", "torch-2.13.0+cpu", "a_b_c-1")]

    assert versions(["Ruamel.YAML", "torch", "A__b.-C"], path=path) == {
        "Ruamel.YAML": "0.19.1",
        "torch": "2.13.0+cpu",
        "A__b.-C": "1",
    }


def test_the_folder_that_is_imported_from_first_wins(tmp_path: Path) -> None:
    path = [installed(tmp_path / "a", "onnx-2"), installed(tmp_path / "b", "onnx-1")]

    assert versions(["onnx"], path=path) == {"onnx": "2"}
    assert versions(["onnx"], path=path[::-1]) == {"onnx": "1"}


def test_a_tool_that_is_not_installed_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = [installed(tmp_path, "onnx-1", "onnxsim_extras-3")]

    with pytest.raises(ToolNotFoundError, match=r"installed for .*: onnxsim\n") as caught:
        versions(["onnx", "onnxsim"], path=path)
    assert caught.value.hint is not None
    assert "pip install '/path/to/ascendflow' -c" in caught.value.hint


def test_what_a_model_from_pytorch_needs_is_installed_by_the_extra(tmp_path: Path) -> None:
    with pytest.raises(ToolNotFoundError, match=r": onnxscript, torch\n") as caught:
        versions(["torch", "onnxscript"], path=[str(tmp_path)])
    assert caught.value.hint is not None
    assert "pip install '/path/to/ascendflow[torch]' -c" in caught.value.hint
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    extra = declared["project"]["optional-dependencies"]["torch"]
    assert {each.partition(">")[0] for each in extra} == FOR_PYTORCH


def test_an_optional_tool_that_is_not_installed_is_absent(tmp_path: Path) -> None:
    assert versions([], optional=["torch"], path=[str(tmp_path)]) == {"torch": "absent"}


def test_two_versions_in_one_folder_are_an_error_only_where_they_are_asked_for(
    tmp_path: Path,
) -> None:
    path = [installed(tmp_path, "onnx-1", "onnx-2", "torch-1", "~nnx-3")]

    with pytest.raises(AscendflowError, match="holds 1 and 2 of onnx"):
        versions(["onnx"], path=path)
    assert versions(["torch"], path=path) == {"torch": "1"}


def test_entries_of_the_path_that_are_no_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "lib.zip").write_bytes(b"")
    path = [str(tmp_path / "lib.zip"), "/nowhere", installed(tmp_path / "a", "onnx-1")]

    assert versions(["onnx"], path=path) == {"onnx": "1"}


def test_a_folder_is_listed_once_per_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = [installed(tmp_path, "onnx-1", "torch-1")]
    versions(["onnx"], path=path)
    monkeypatch.setattr(os, "listdir", None)

    assert versions(["torch"], path=path) == {"torch": "1"}


def test_version_of_a_file_is_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "atc"
    file.write_bytes(b"abc")
    name, gone = f"file:{file}", f"file:{tmp_path}/gone"

    assert versions([name, gone, "pytest"]) == {
        name: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        gone: "absent",
        "pytest": importlib.metadata.version("pytest"),
    }
    assert versions((), optional=[gone]) == {gone: "absent"}


def test_packages_of_an_interpreter_are_asked_for_by_their_names(tmp_path: Path) -> None:
    own = f"packages:onnx,no-such-thing:{sys.executable}"
    gone = f"packages:onnx:{tmp_path}/python3"

    assert versions([own, gone]) == {
        own: f"onnx {importlib.metadata.version('onnx')} no-such-thing absent",
        gone: "absent",
    }


def test_version_of_an_interpreter_is_its_own_and_its_numpys(tmp_path: Path) -> None:
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    own, numpy = sys.version.split()[0], importlib.metadata.version("numpy")
    names = [f"python:{sys.executable}", f"python:{broken}", "python:/nowhere/python3"]

    assert versions(names) == dict(
        zip(names, (f"{own} numpy {numpy}", "absent", "absent"), strict=True)
    )
