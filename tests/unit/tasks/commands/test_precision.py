from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow import cli
from ascendflow.cann.precision import MODELLED
from ascendflow.tasks.commands.lint import Lint
from ascendflow.tasks.commands.precision import Precision
from tests.models import F32, model, node

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NO_FP32_CUBE = ("Ascend310", "Ascend310P3", "Ascend910A")
FAMILIES = (*NO_FP32_CUBE, "Ascend310B1", "Ascend910B1", "Ascend910_9391")


@pytest.fixture
def path(tmp_path: Path) -> str:
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="stem", kernel_shape=[1, 1]),
        node("MaxPool", ["c"], ["m"], name="pool", kernel_shape=[2, 2]),
        node("Cast", ["m"], ["y"], name="out", to=onnx.TensorProto.FLOAT16),
    ]
    y = ("y", ["a", "b", "c", "d"], onnx.TensorProto.FLOAT16)
    weights = {"w": np.ones((2, 2, 1, 1), F32)}
    onnx.save(model(nodes, [("x", [1, 2, 4, 4])], [y], weights), tmp_path / "m.onnx")
    return str(tmp_path / "m.onnx")


def test_every_node_is_a_line_with_types_and_reason(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        path,
        "--cann=8.1",
        "--soc",
        "Ascend310P3",
        "--precision-mode",
        "mixed_float16",
    ]

    assert Precision().parse_execute(arguments) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CANN 8.1, ascend310p, allow_mix_precision; emulated")
    assert lines[1].split()[:2] == ["node", "operator"]
    assert [line.split()[:5] for line in lines[2:5]] == [
        ["stem", "Conv", "Conv2D", "float16", "float16"],
        ["pool", "MaxPool", "MaxPoolV3", "float16", "float16"],
        ["out", "Cast", "Cast", "float32", "float16"],
    ]
    assert (
        "on the gray list: follows 'stem' (float16); MaxPoolV3 has float16 only"
        in (lines[3])
    )
    assert lines[5] == "[1] which types its operator takes was not read; float16 assumed"
    assert lines[6].startswith("this is the file as delivered; a pipeline first fixes")
    assert lines[6].endswith("to list that, add --simplify")
    assert lines[7:] == ["3 nodes: 0 rejected, 0 unknown"]


def test_what_was_not_read_of_operators_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [node("Mul", ["x", "x"], ["m"], name="a"), node("Mul", ["m", "x"], ["y"])]
    onnx.save(model(nodes, [("x", [1, 2])], [("y", [1, 2])]), tmp_path / "m.onnx")

    assert (
        Precision().parse_execute(
            [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc=Ascend310P3"]
        )
        == 0
    )

    said = capsys.readouterr().out
    assert said.count("was not read") == 1
    assert [line.endswith("force_fp16 [1]") for line in said.splitlines()[2:4]] == [
        True
    ] * 2
    assert "\n[1] which types its operator takes was not read; " in said


def test_names_are_those_of_the_simplified_model_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """BatchNormalization is folded into Conv, so that no keep_dtype could name it."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="stem", kernel_shape=[1, 1]),
        node("BatchNormalization", ["c", *"abmv"], ["y"], name="norm"),
    ]
    shape: Sequence[int | str] = ["n", 2, 4, 4]
    constants = {each: np.ones(2, F32) for each in "abmv"}
    constants["w"] = np.ones((2, 2, 1, 1), F32)
    proto = model(nodes, [("x", shape)], [("y", shape)], constants)
    onnx.save(proto, tmp_path / "m.onnx")
    command = [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc=Ascend310P3"]

    assert Precision().parse_execute(command) == 0
    delivered = capsys.readouterr().out
    assert "to list that, add --simplify --shape x:n,2,4,4" in delivered.replace("?", "n")
    assert "\nnorm " in delivered

    command += ["--simplify", "--shape", "x:1,2,4,4"]
    assert Precision().parse_execute(command) == 0
    simplified = capsys.readouterr().out
    assert "norm" not in simplified.replace("names", "")
    assert simplified.splitlines()[-2].startswith("this is the model as a pipeline")

    assert Precision().parse_execute([*command, "--keep-dtype", "norm"]) == 3
    said = capsys.readouterr().err
    assert "precision: keep_dtype: no node is called 'norm'" in said
    assert "--simplify`" in said


def test_a_shape_is_for_an_input(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = [path, "--cann=8.1", "--soc=Ascend310P3", "--shape", "z:1,2,4,4"]

    assert Precision().parse_execute(command) == 3
    assert "'z'" in capsys.readouterr().err


def test_json_holds_the_same_and_what_nothing_runs(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "--format",
        "json",
        "--cann=8.1",
        "--soc=Ascend310P3",
        path,
        "--keep-dtype",
        "pool",
    ]

    assert Precision().parse_execute(arguments) == 0

    data = json.loads(capsys.readouterr().out)
    assert (data["soc_family"], data["is_real_device"]) == ("ascend310p", False)
    stem, pool, _ = data["nodes"]
    assert (stem["dtype_in"], stem["problem"]) == ("float16", None)
    assert (pool["dtype_in"], pool["problem"]) == (None, "rejected")
    assert "keep_dtype forbids float16" in pool["reason"]


def refused(folder: Path, *, opset: int = 17) -> str:
    """Save what no parser takes, what one may take, and a Relu that none objects to."""
    nodes = [
        node("LayerNormalization", ["x", "s"], ["a"], name="perhaps"),
        node("Clip", ["a"], ["c"], name="never"),
        node("Relu", ["c"], ["y"], name="fine"),
    ]
    proto = model(nodes, [("x", [1, 8])], [("y", [1, 8])], {"s": np.ones(8, F32)}, opset)
    onnx.save(proto, folder / "m.onnx")
    return str(folder / "m.onnx")


def test_a_node_that_cannot_be_converted_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        Precision().parse_execute([refused(tmp_path), "--cann=8.1", "--soc=Ascend310P3"])
        == 0
    )

    perhaps, never, fine, *_, last = capsys.readouterr().out.splitlines()[2:]
    assert last == "3 nodes: 1 rejected, 1 unknown"
    assert perhaps.split()[3:6] == ["-", "-", "unknown:"]
    assert "whether CANN 8.1 has a parser" in perhaps
    assert never.split()[3:6] == ["float16", "float16", "rejected:"]
    cure = "it has neither min nor max; rule clip-unbounded is against it; after that: for"
    assert cure in never
    assert fine.split()[3:] == ["float16", "float16", "force_fp16"]


def test_what_is_unknown_is_told_in_the_words_of_lint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="known", kernel_shape=[1, 1]),
        node("Conv", ["c", "w"], ["y"], name="bare"),
    ]
    weights = {"w": np.ones((2, 2, 1, 1), F32)}
    shape = [1, 2, 4, 4]
    proto = model(nodes, [("x", shape)], [("y", shape)], weights)
    proto.graph.node.append(node("Foo", ["x"], ["z"], name="own", domain="mine"))
    proto.opset_import.add(domain="mine", version=1)
    onnx.save(proto, tmp_path / "m.onnx")
    target = [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc=Ascend310P3", "--format=json"]
    target.append("--precision-mode=must_keep_origin_dtype")

    assert Precision().parse_execute(target) == 0
    known, bare, own = json.loads(capsys.readouterr().out)["nodes"]
    Lint().parse_execute([*target, "--cann=8.1"])
    told = {
        (found["node"], found["consequence"]): found["reason"]
        for found in json.loads(capsys.readouterr().out)["findings"]
    }

    assert (known["problem"], known["reason"]) == ("unknown", told["known", "unknown"])
    assert (own["problem"], own["reason"]) == ("rejected", told["own", "rejected"])
    assert bare["problem"] == "rejected"
    assert bare["reason"].endswith(f"; after that: unknown: {told['bare', 'unknown']}")


def test_a_name_that_nobody_reads_makes_no_other_row_wide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], name="n" * 300_000),
        node("Relu", ["a"], ["y"], name="short"),
    ]
    onnx.save(model(nodes, [("x", [1])], [("y", [1])]), tmp_path / "m.onnx")

    assert (
        Precision().parse_execute(
            [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc=Ascend310P3"]
        )
        == 0
    )
    _, _, first, second, *_ = capsys.readouterr().out.splitlines()
    assert " [... 299800 more ...] " in first
    assert second.split() == ["short", "Relu", "Relu", "float16", "float16", "force_fp16"]
    assert max(len(first), len(second)) < 400


def test_a_model_that_is_refused_as_a_whole_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = refused(tmp_path, opset=20)
    said = "CANN 8.1 parses opsets 8 to 18, not 20"

    assert Precision().parse_execute([path, "--cann=8.1", "--soc=Ascend310P3"]) == 0
    _, line, *_, last = capsys.readouterr().out.splitlines()
    assert last.endswith("; the model is rejected as a whole")
    assert line == f"rejected, whatever its nodes are: {said}"

    assert (
        Precision().parse_execute(
            [path, "--cann=8.1", "--soc=Ascend310P3", "--format=json"]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["rejected"] == [said]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "give one ONNX file"),
        (["{}"], "precision: --soc and --cann missing"),
        (["{}", "--soc", "Ascend310"], "precision: --cann missing"),
        (
            ["gone.onnx", "--cann=8.1", "--soc", "Ascend310"],
            "precision: gone.onnx: does not exist",
        ),
        (["{}", "--cann=8.1", "--soc", "Ascend310P4"], "did you mean 'Ascend310P"),
        (
            ["{}", "--cann=8.1", "--soc", "Ascend310", "--precision-mode", "fp61"],
            "did you mean 'fp16'?",
        ),
        (
            [
                "{}",
                "--cann=8.1",
                "--soc",
                "Ascend310",
                "--precision-mode",
                "mixed_bfloat16",
            ],
            "'mixed_bfloat16' is not modelled",
        ),
        (["{}", "--soc", "Ascend310", "--cann", "99.1"], "cann '99.1' is not modelled"),
        (
            ["{}", "--cann=8.1", "--soc", "Ascend310", "--format", "xml"],
            "--format: 'xml' is not known\n  hint: known here: text, json",
        ),
        (
            ["{}", "--cann=8.1", "--soc", "Ascend310", "--keep-dtype", "steem"],
            "did you mean 'stem',",
        ),
        (
            ["{}", "--cann=8.1", "--soc", "Ascend310", "--bogus"],
            "precision: option --bogus",
        ),
    ],
)
def test_a_mistake_is_told_without_a_traceback(
    arguments: list[str], problem: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spelled = [path if each == "{}" else each for each in arguments]

    assert Precision().parse_execute(spelled) == 3

    error = capsys.readouterr().err
    assert problem in error
    assert "Traceback" not in error


def test_a_file_that_is_no_model_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_text("no model")

    given = [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc=Ascend310"]
    assert Precision().parse_execute(given) == 3
    assert (
        "m.onnx: is not an ONNX file, or was cut short: it has 8 bytes"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("soc_version", FAMILIES)
@pytest.mark.parametrize("mode", MODELLED)
def test_every_line_says_why_in_each_mode_on_each_family(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str, soc_version: str
) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        node("Pow", ["c", "two"], ["p"]),
        node("AveragePool", ["p"], ["a"], kernel_shape=[2, 2]),
        node("Cast", ["a"], ["h"], to=10),
        node("Softmax", ["a"], ["y"]),
    ]
    constants = {"w": np.ones((2, 2, 1, 1), F32), "two": np.array(2, F32)}
    outputs: list[Any] = [("y", [1, 2, 1, 1]), ("h", [1, 2, 1, 1], 10)]
    path = tmp_path / "m.onnx"
    onnx.save(model(nodes, [("x", [1, 2, 2, 2])], outputs, constants), path)
    arguments = [str(path), "--cann=8.1", "--soc", soc_version, "--precision-mode", mode]

    code = Precision().parse_execute([*arguments, "--format", "json"])

    if mode == "force_fp32" and soc_version in NO_FP32_CUBE:
        assert code == 3
        assert "'force_fp32' is not modelled on" in capsys.readouterr().err
        return
    listed = json.loads(capsys.readouterr().out)
    assert [row["node"] for row in listed["nodes"]] == ["c", "p", "a", "h", "y"]
    assert all(row["reason"] for row in listed["nodes"])
    assert listed["precision_mode"] == mode


@pytest.mark.parametrize(("to", "told"), [(8, "string"), (16, "bfloat16")])
def test_cast_to_what_numpy_has_no_type_for_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], to: int, told: str
) -> None:
    made = node("Cast", ["x"], ["y"], name="cast", to=1)
    proto = model([made], [("x", [2])], [("y", [2])])
    proto.graph.node[0].attribute[0].i = to
    proto.graph.output[0].type.tensor_type.elem_type = to
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())

    assert (
        Precision().parse_execute(
            [str(tmp_path / "m.onnx"), "--cann=8.1", "--soc", "Ascend310P3"]
        )
        == 0
    )

    row = capsys.readouterr().out.splitlines()[2].split()
    assert row[:2] == ["cast", "Cast"]
    assert told in row[3:5]


def test_a_file_is_named_from_where_the_user_stands(
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "dodo.py").touch()
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    command = ["ascendflow", "precision", "../m.onnx", "--cann=8.1", "--soc", "Ascend310P3"]
    monkeypatch.setattr("sys.argv", command)

    assert cli.main() == 0
    assert "stem" in capsys.readouterr().out
    assert path


def test_a_name_that_is_no_text_is_listed_by_its_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = model([node("Relu", ["x"], ["y"], name="NNNN")], [("x", [2])], [("y", [2])])
    held = proto.SerializeToString().replace(b"NNNN", b"\xff\xfe\xc0\x80")
    (tmp_path / "m.onnx").write_bytes(held)

    for form in ("text", "json"):
        command = [
            str(tmp_path / "m.onnx"),
            "--cann=8.1",
            "--soc=Ascend310P3",
            "--format",
            form,
        ]
        assert Precision().parse_execute(command) == 0
        assert r"\xff\xfe\xc0\x80" in capsys.readouterr().out.replace("\\\\", "\\")
