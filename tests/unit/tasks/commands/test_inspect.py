"""`ascendflow inspect`: what it says of each kind of file, and of what is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import jsonschema
import onnx
import pytest

from ascendflow.manifest import schema
from ascendflow.tasks.commands.inspect import Inspect
from tests import om_files
from tests.emulation import convert
from tests.models import resize_chain

if TYPE_CHECKING:
    from pathlib import Path


def inspect(*arguments: object) -> int:
    return Inspect().parse_execute([str(each) for each in arguments])


def made(folder: Path, kind: str) -> Path:
    path = folder / f"m.{kind}"
    if kind == "om":
        path.write_bytes(om_files.static({"gear": [1, 2]}))
    elif kind == "onnx":
        onnx.save(resize_chain("half_pixel"), path)
    else:
        convert(resize_chain("half_pixel"), folder)
        path = folder / "model"
    return path


@pytest.mark.parametrize("digests", [True, False], ids=["digests", "no-digests"])
@pytest.mark.parametrize("kind", ["om", "onnx", "emu"])
def test_json_is_the_document_that_the_schema_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, digests: bool
) -> None:
    more = () if digests else ("--no-digests",)

    assert inspect(made(tmp_path, kind), "--format", "json", *more) == 0

    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(schema.read("inspection")))
    assert (document["sha256"] is not None) == digests
    assert (document["normalised_sha256"] is not None) == (digests and kind == "om")
    filled = [key for key in ("om", "onnx", "emulated") if document[key] is not None]
    assert filled == [document["kind"]]


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            "om",
            [
                "m.om: OM, 1000 bytes",
                "  SoC           Ascend310P3",
                "  memory        memory_size 1048576, weight_size 64",
                "  image: float32 [1, 3, 8, 8] NCHW, 768 bytes",
                "  conv:0:logits: float16 [1, 4] ND, 8 bytes",
                "  graph main: 1 Conv2D, 1 Data, 1 NetOutput",
                "  gear = [1, 2]",
            ],
        ),
        (
            "onnx",
            [
                "inputs: 1",
                "  opsets        ai.onnx 17",
                "  operators     8 Resize, 7 AveragePool",
            ],
        ),
        (
            "emu",
            [
                "  target        CANN 8.1, Ascend310P3, force_fp16",
            ],
        ),
    ],
)
def test_text_tells_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, lines: list[str]
) -> None:
    assert inspect(made(tmp_path, kind)) == 0

    told = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in told] == []
    assert ("(emulated, not run on a device)" in told[0]) == (kind == "emu")


@pytest.mark.parametrize("name", ["model.om", "model_linux_aarch64.om", "model.exeom"])
def test_a_folder_of_a_build_is_its_artifact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).write_bytes(om_files.static())
    (tmp_path / "model" / "weight").mkdir()

    assert inspect(tmp_path / "model") == 0
    assert capsys.readouterr().out.startswith(f"{name}: OM, ")


def test_of_a_folder_with_two_artifacts_none_is_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.om", "b.om"):
        (tmp_path / name).write_bytes(om_files.static())

    assert inspect(tmp_path) == 3
    assert "with a.om, b.om in it, not one of them" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json"])
def test_text_of_a_file_is_never_obeyed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    evil = "\x1b[2J\r\n\x07\u202e\u2028" + "[/red]{{ 7 }}"
    made = om_files.om(
        [
            (
                om_files.MODEL_DEF,
                om_files.model_def(
                    [
                        om_files.graph(
                            evil, [om_files.op(evil, evil), om_files.op(evil, "Data")]
                        )
                    ],
                    {
                        evil: evil,
                        "atc_cmdline": evil,
                        "raw": [evil, "x"],
                        "soc_version": evil,
                    },
                    name=evil,
                ),
            )
        ],
        name="\x1b[2J",
    )
    path = tmp_path / "m.om"
    path.write_bytes(made)

    assert inspect(path, "--format", form) == 0

    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    if form == "text":
        assert r"\x1b[2J\r\n\x07\u202e\u2028[/red]{{ 7 }}" in out


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_whose_name_is_no_text_can_be_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    path = tmp_path / os.fsdecode(b"\xff\x1b.om")
    path.write_bytes(om_files.static())

    assert inspect(path, "--format", form) == 0
    assert capsys.readouterr().out.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", ["m.om", "m.onnx", "m.emu", "m"])
@pytest.mark.parametrize(
    "what", ["pipe", "folder", "empty", "huge", "missing", "text", "zip"]
)
def test_what_is_none_of_them_is_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, what: str
) -> None:
    path = tmp_path / name
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "huge":
        path.touch()
        os.truncate(path, 1 << 40)
    elif what != "missing":
        path.write_bytes({"empty": b"", "text": b"hello", "zip": b"PK\x03\x04.."}[what])

    assert inspect(path) == 3

    out, err = capsys.readouterr()
    assert out == ""
    first, *rest = err.splitlines()
    assert first.startswith(f"ERROR: inspect: {path}: ")
    assert len(rest) <= 1
    assert rest == [line for line in rest if line.startswith("  hint: ")]
    if what in TOLD:
        assert TOLD[what] in first


TOLD = {
    "pipe": "is no regular file",
    "folder": "is a folder with no .exeom or .om or .emu in it",
    "empty": "is empty: 0 bytes",
    "missing": "does not exist",
}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("m.onnx", "a Git LFS pointer is a small text"),
        ("m.bin", "an OM begins with b'IMOD'"),
    ],
)
def test_a_text_is_told_of_as_what_its_name_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1")

    assert inspect(tmp_path / name) == 3

    first, second = capsys.readouterr().err.splitlines()
    assert ": is not an ONNX file, or was cut short: it has 42 bytes; " in first
    assert hint in second


def test_a_damaged_om_is_told_with_place_and_both_sizes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.bin"  # told by its first bytes
    path.write_bytes(om_files.static()[:-1])

    assert inspect(path) == 3

    error, hint = capsys.readouterr().err.splitlines()
    assert error.endswith(
        "cut short: the header says 728 bytes behind its header, there are 727"
        " (byte 983 of 983)"
    )
    assert hint.startswith("  hint: if it was copied here, compare")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give one file, got 0"),
        (("a", "b"), "give one file, got 2"),
        (("a", "--format", "jsn"), "did you mean 'json'?"),
        (("a", "--formt", "json"), "option --formt not recognized"),
    ],
)
def test_a_command_that_cannot_be_is_told(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert inspect(*arguments) == 3

    assert told in capsys.readouterr().err


def test_an_om_is_inspected_without_what_onnx_needs(
    tmp_path: Path, repository: Path
) -> None:
    """From any folder, with no dodo.py; and soon."""
    made(tmp_path, "om")
    code = (
        "import sys; sys.argv = ['ascendflow', 'inspect', 'm.om']\n"
        "from ascendflow.cli import main\n"
        "assert main() == 0\n"
        "print(*{'numpy', 'onnx', 'google.protobuf', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("m.om: OM, 1000 bytes\n")
    assert done.stdout.endswith("\n\n")
