"""`ascendflow lint`: what it says of a file, in three forms, and of a user's mistakes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import onnx
import pytest
from doit import doit_cmd
from onnx import TensorProto, helper, numpy_helper

from ascendflow.manifest import schema
from ascendflow.tasks.commands.lint import Lint
from ascendflow.tasks.commands.precision import Precision
from tests.exported_models import training_batch_norm
from tests.models import F32, model, node, resize, resize_chain

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = ("--soc", "Ascend310P3", "--cann", "8.1")
SARIF = Path(__file__).parents[3] / "schemas" / "sarif-2.1.0-rtm.5.json"


def save(proto: onnx.ModelProto, path: Path) -> str:
    onnx.save(proto, path)
    return str(path)


def lint(*arguments: str) -> int:
    return Lint().parse_execute(list(arguments))


def validate_sarif(log: Any) -> None:
    rules = json.loads(SARIF.read_text())
    jsonschema.Draft4Validator.check_schema(rules)
    jsonschema.Draft4Validator(rules).validate(log)


def mixed() -> onnx.ModelProto:
    """A Resize that samples wrongly, and behind it one that is refused."""
    nodes = [
        node("Resize", ["x", "", "up"], ["wrong"], mode="linear"),
        node("Resize", ["wrong", "", "up"], ["refused"], mode="cubic"),
    ]
    constants = {"up": np.array([1, 1, 2, 2], F32)}
    return model(nodes, [("x", [1, 1, 4, 4])], [("refused", [1, 1, 16, 16])], constants)


def test_findings_come_by_severity_with_evidence_and_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(save(mixed(), tmp_path / "m.onnx"), *TARGET) == 1

    out = capsys.readouterr().out.splitlines()
    first, cured, source, second, cure, _, totals, delivered, step = out
    assert first.startswith("error: rejected: node 'refused' (Resize): ")
    assert cured.strip() == "cure: rule resize-to-matmul"
    assert re.fullmatch(r"  confidence medium: canndev resize_plugin\.cc .*", source)
    assert second.startswith("warning: silent: node 'wrong' (Resize): ")
    assert second.endswith(" [resize-half-pixel]")
    assert cure.strip() == "cure: rule resize-half-pixel"
    assert "1 rejected, 1 silent, 0 precision, 0 unknown (2 nodes; CANN 8.1" in totals
    assert delivered.startswith("this is the file as delivered; a pipeline first fixes")
    assert delivered.endswith("to lint that, add --simplify")
    assert step.startswith("next: `rewrite: {rules: auto}` in the manifest")
    assert step.endswith("applies resize-to-matmul, resize-half-pixel")


@pytest.mark.parametrize("mode", ["force_fp16", "fp16", "origin"])
def test_a_model_without_findings_exits_with_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    file = save(resize_chain("pytorch_half_pixel"), tmp_path / "m.onnx")

    assert lint(file, *TARGET, "--precision-mode", mode) == 0
    assert "0 rejected, 0 silent" in capsys.readouterr().out


def test_less_precision_alone_exits_with_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(save(softened(), tmp_path / "m.onnx"), *TARGET) == 0
    assert "0 silent, 1 precision" in capsys.readouterr().out


def doubled() -> onnx.ModelProto:
    """Neg of float64, of which nothing was read."""
    double = TensorProto.DOUBLE
    return model([node("Neg", ["x"], ["y"])], [("x", [2], double)], [("y", [2], double)])


def test_what_convert_refuses_as_unknown_is_an_error_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(doubled(), tmp_path / "m.onnx")

    assert lint(file, *TARGET) == 1

    first, _, _, totals, _, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("error: unknown: node 'y' (Neg): tensor 'x' is float64, ")
    assert first.endswith(", which the emulator does not compute [not-emulated]")
    assert "0 precision, 1 unknown (1 stops convert) (1 node" in totals
    assert lint(file, *TARGET, "--format=sarif") == 1
    log = json.loads(capsys.readouterr().out)
    validate_sarif(log)
    assert log["runs"][0]["results"][0]["level"] == "error"


def softened() -> onnx.ModelProto:
    """Less precise alone: weights of thirds are no fp16 numbers."""
    return resize(
        [1, 1, 4, 4],
        sizes=[1, 1, 12, 12],
        mode="linear",
        coordinate_transformation_mode="pytorch_half_pixel",
    )


@pytest.mark.parametrize(
    ("proto", "cann", "code", "strict"),
    [
        pytest.param(resize_chain("pytorch_half_pixel"), "8.1", 0, 0, id="nothing"),
        pytest.param(softened(), "8.1", 0, 1, id="precision"),
        pytest.param(resize_chain("half_pixel"), "9.1", 0, 1, id="computed-both-ways"),
        pytest.param(resize_chain("half_pixel"), "8.1", 1, 1, id="silent"),
        pytest.param(doubled(), "8.1", 1, 1, id="not-computed"),
        pytest.param(mixed(), "8.1", 1, 1, id="rejected"),
    ],
)
def test_exit_code_is_that_of_the_table(
    tmp_path: Path, proto: onnx.ModelProto, cann: str, code: int, strict: int
) -> None:
    arguments = (save(proto, tmp_path / "m.onnx"), "--soc", "Ascend310P3", "--cann", cann)

    assert lint(*arguments) == code
    assert lint(*arguments, "--strict") == strict


def test_json_is_the_document_that_the_schema_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(save(mixed(), tmp_path / "m.onnx"), *TARGET, "--format", "json") == 1

    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(schema.read("lint")))
    assert [f["node"] for f in document["findings"]] == ["refused", "wrong"]
    assert [f["skipped"] is None for f in document["findings"]] == [True, True]


def test_sarif_holds_to_its_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "log.sarif"
    file = save(mixed(), tmp_path / "m.onnx")

    assert lint(file, *TARGET, "--format=sarif", "--output", str(out)) == 1

    assert capsys.readouterr().out.count("\n") == 1  # the totals
    log = json.loads(out.read_text())
    validate_sarif(log)
    (run,) = log["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    ((location,), _) = (result["locations"] for result in run["results"])
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "refused"
    assert location["physicalLocation"]["artifactLocation"]["uri"] == f"file://{file}"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [result["ruleId"] for result in run["results"]]
    assert rules == ["resize-cubic", "resize-half-pixel"]


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(bytes(range(1, 48)), id="control"),
        pytest.param(b"\x00\x7f\x80\xfe\xff", id="no-utf-8"),
        pytest.param("\u202e\ufeff\U0001f600\u2028".encode(), id="unicode"),
        pytest.param(b'"</script>{{ 7 }}%s\\', id="syntax"),
    ],
)
def test_a_name_of_any_bytes_gives_valid_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: bytes, form: str
) -> None:
    placeholder = b"N" * len(name)  # of the same length, which protobuf has written down
    proto = resize([1, 1, 4, 4], sizes=[1, 1, 8, 8], mode="linear")
    proto.graph.node[0].name = placeholder.decode()
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(placeholder, name))

    assert lint(str(path), *TARGET, "--format", form) == 1

    out = capsys.readouterr().out
    out.encode()
    if form == "text":
        assert out.replace("\n", "").isprintable()
    elif form == "json":
        jsonschema.validate(json.loads(out), json.loads(schema.read("lint")))
    else:
        validate_sarif(json.loads(out))


NO_TEXT = b"\xff\xfe\xc0\x80"


def no_text_for(placeholder: str, proto: onnx.ModelProto, path: Path) -> str:
    held = placeholder.encode()
    path.write_bytes(proto.SerializeToString().replace(held, NO_TEXT))
    return str(path)


def test_no_cure_is_tried_on_a_tensor_whose_name_is_no_utf8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [node("ArgMax", ["x"], ["NNNN"], name="most")]
    proto = model(nodes, [("x", [2, 3])], [("NNNN", [1, 3], TensorProto.INT64)])

    lint(no_text_for("NNNN", proto, tmp_path / "m.onnx"), *TARGET, "--format", "json")

    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["rule"] == "indices-to-int64"
    assert finding["skipped"] == (
        f"no rule edits a model with a name that is not UTF-8: {NO_TEXT!r}"
    )


def test_operator_whose_name_is_no_utf8_is_refused_like_any_unknown_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = model(
        [node("Relu", ["x"], ["NNNN"], name="first"), node("Abs", ["NNNN"], ["y"])],
        [("x", [3])],
        [("y", [3])],
    )
    proto.graph.node[0].op_type = "MMMM"
    path = tmp_path / "m.onnx"
    no_text_for("MMMM", proto, path)

    assert lint(str(path), *TARGET, "--format", "json") == 1

    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["deviation"], finding["node"]) == ("op-unregistered", "first")
    assert finding["op_type"] == r"\xff\xfe\xc0\x80"

    del proto.graph.node[1].input[:]
    proto.graph.node[1].input.append("made-by-nothing")
    no_text_for("MMMM", proto, path)
    assert lint(str(path), *TARGET) == 3
    assert "m.onnx: node 'y' reads 'made-by-nothing'" in capsys.readouterr().err


def test_a_file_of_any_bytes_is_a_valid_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"a:b c\xff%#?.onnx")
    proto = mixed()
    weights = np.zeros(4096, F32)
    proto.graph.initializer.append(numpy_helper.from_array(weights, "unused"))
    onnx.save(proto, name)

    assert lint(name, *TARGET, "--format", "sarif") == 1

    log = json.loads(capsys.readouterr().out)
    validate_sarif(log)
    uri = log["runs"][0]["artifacts"][0]["location"]["uri"]
    assert uri == "a%3Ab%20c%FF%25%23%3F.onnx"


def cyclic() -> onnx.ModelProto:
    nodes = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
    return _unchecked(nodes)


def backwards() -> onnx.ModelProto:
    return _unchecked([node("Relu", ["a"], ["b"]), node("Relu", ["x"], ["a"])])


def dangling() -> onnx.ModelProto:
    return _unchecked([node("Relu", ["nowhere"], ["b"])])


def _unchecked(nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xb"]
    graph = helper.make_graph(list(nodes), "graph", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])


def mistyped() -> onnx.ModelProto:
    proto = mixed()
    proto.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("mode", 7))
    return proto


def misshapen() -> onnx.ModelProto:
    """A window of three lengths over pictures of two; the output is declared."""
    return model(
        [node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[2, 2, 2])],
        [("x", [1, 1, 8, 8])],
        [("y", [1, 1, 7, 7])],
    )


def no_text() -> onnx.ModelProto:
    proto = mixed()
    proto.graph.node[0].attribute[0].s = b"line\xffr"
    return proto


GOOD = mixed().SerializeToString()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(None, "does not exist", id="missing"),
        pytest.param(b"", "it holds no graph", id="empty"),
        pytest.param(
            b"version https://git-lfs", "is not an ONNX .*has 23 bytes", id="pointer"
        ),
        pytest.param(GOOD[:-40], "or was cut short", id="cut-short"),
        pytest.param(mistyped(), "breaks ONNX's rules: .*mode", id="attribute-type"),
        pytest.param(misshapen(), "breaks ONNX's rules: .*pool.*kernel_shape", id="length"),
        pytest.param(
            no_text(), r"rules: .*'mode' is not UTF-8: b'line\\xffr'", id="no-text"
        ),
        pytest.param(cyclic(), "'a' reads 'b' of node 'b'.*has a cycle", id="cycle"),
        pytest.param(backwards(), "node 'b' reads 'a'.*comes later", id="order"),
        pytest.param(dangling(), "reads 'nowhere', which nothing makes", id="dangling"),
    ],
)
def test_a_file_that_cannot_be_linted_is_one_clear_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | onnx.ModelProto | None,
    told: str,
) -> None:
    path = tmp_path / "m.onnx"
    if content is not None:
        whole = content if isinstance(content, bytes) else content.SerializeToString()
        path.write_bytes(whole)

    assert lint(str(path), *TARGET) == 3

    line, *hints = capsys.readouterr().err.splitlines()
    assert re.search(told, line), line
    assert all(hint.startswith("  hint: ") for hint in hints)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--soc", "Ascend310P4", "--cann", "8.1"), "did you mean 'Ascend310P"),
        (("--soc", "Ascend610", "--cann", "8.1"), "its arithmetic is unknown"),
        (("--soc", "Ascend310P3", "--cann", "3.1"), "cann '3.1' is not modelled"),
        (("--soc", "Ascend310P3", "--cann", "new"), "is not a version such as"),
        (("--soc", "Ascend310P3"), "--cann missing"),
        ((), "--cann and --soc missing"),
        ((*TARGET, "--precision-mode", "force_fp61"), "did you mean 'force_fp16'?"),
        ((*TARGET, "--precision-mode", "force_fp32"), "'force_fp32' is not modelled on"),
        ((*TARGET, "--format", "srif"), "did you mean 'sarif'?"),
        ((*TARGET, "another.onnx"), "give one ONNX file, got 2"),
    ],
)
def test_a_target_or_option_that_cannot_be_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    assert lint(save(mixed(), tmp_path / "m.onnx"), *arguments) == 3

    assert told in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "nothing" / "log.sarif")

    assert lint(save(mixed(), tmp_path / "m.onnx"), *TARGET, "--output", out) == 3
    assert out in capsys.readouterr().err


def test_external_data_is_neither_read_nor_missed(tmp_path: Path) -> None:
    """Beyond 4 MiB it is not looked at, so that it need not even exist."""
    proto = model(
        [node("MatMul", ["x", "w"], ["y"])],
        [("x", [1, 2048])],
        [("y", [1, 1024])],
        {"w": np.ones((2048, 1024), F32)},
    )
    path = tmp_path / "m.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="m.data")
    (tmp_path / "m.data").unlink()

    assert lint(str(path), *TARGET) == 0


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        pytest.param({"location": "pipe"}, "'pipe' is no regular file", id="pipe"),
        pytest.param({"location": "."}, "'.' is no regular file", id="folder"),
        pytest.param(
            {"location": "m.data", "offset": "-5"},
            "'m.data' has an offset or length that is no number of bytes",
            id="offset",
        ),
        pytest.param(
            {"location": "m.data", "length": "99999999999999"},
            "'m.data': length 99999999999999, but dtype and dims need 12 bytes",
            id="length",
        ),
        pytest.param(
            {"location": "absent", "offset": "abc"},
            "'absent' has an offset or length that is no number of bytes",
            id="offset-in-no-file",
        ),
    ],
)
def test_external_data_that_is_not_what_it_says_is_refused_as_precision_does(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    entries: dict[str, str],
    said: str,
) -> None:
    """To open the pipe would wait for ever."""
    proto = model(
        [node("Add", ["x", "w"], ["y"])], [("x", [3])], [("y", [3])], {"w": np.ones(3, F32)}
    )
    (tensor,) = proto.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    (tmp_path / "m.data").write_bytes(bytes(12))
    os.mkfifo(tmp_path / "pipe")
    path = save(proto, tmp_path / "m.onnx")
    whole = f"m.onnx: not a readable ONNX model: tensor 'w': its external data {said}\n"

    assert lint(path, *TARGET) == 3
    assert capsys.readouterr().err == f"ERROR: lint: {whole}"
    assert Precision().parse_execute([path, "--cann=8.1", "--soc", "Ascend310P3"]) == 3
    assert capsys.readouterr().err == f"ERROR: precision: {whole}"


def overflowing() -> onnx.ModelProto:
    """A constant of 1e6 and more than 4 MiB, added."""
    big = np.full((1200, 1200), 1e6, F32)
    nodes = [node("Add", ["x", "w"], ["y"])]
    return model(nodes, [("x", big.shape)], [("y", big.shape)], {"w": big})


def test_a_large_constant_in_the_file_is_not_called_external_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rule would read it, so lint must not say that the rule skips the node."""
    file = save(overflowing(), tmp_path / "m.onnx")

    lint(file, *TARGET, "--all-weights", "--format", "json")

    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["rule"], found["skipped"]) == ("clamp-constants", None)


def test_one_beside_the_file_still_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(overflowing(), path, save_as_external_data=True, location="m.data")

    lint(str(path), *TARGET, "--all-weights", "--format", "json")

    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["skipped"].startswith("w: external data of more than")


def test_a_constant_that_is_cut_short_in_the_file_is_not_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proto = overflowing()
    proto.graph.initializer[0].raw_data = bytes(5_756_000)

    assert lint(save(proto, tmp_path / "m.onnx"), *TARGET, "--all-weights") == 3

    error = capsys.readouterr().err
    assert "tensor 'w' has 5756000 bytes, its type and shape need 5760000" in error
    assert "external" not in error


def test_a_sparse_initializer_is_no_tensor_that_nothing_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """onnx-ir does not know it, so that nothing is known of its type."""
    proto = _unchecked([node("Add", ["x", "s"], ["b"])])
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [2.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    sparse = helper.make_sparse_tensor(values, indices, [1])
    proto.graph.sparse_initializer.append(sparse)

    assert lint(save(proto, tmp_path / "m.onnx"), *TARGET) == 1
    assert "tensor 's' is of unknown type" in capsys.readouterr().out


def open_resize() -> onnx.ModelProto:
    """Behind an Identity, a nearest Resize of which CANN is known if its lengths are."""
    nodes = [
        node("Identity", ["x"], ["i"]),
        node(
            "Resize", ["i", "", "up"], ["y"], mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor",
        ),
    ]  # fmt: skip
    up = {"up": np.array([1, 1, 2, 2], F32)}
    sizes: list[int | str] = ["n", 3, "h", 8]
    return model(nodes, [("x", sizes)], [("y", ["a", "b", "c", "d"])], up)


SHAPE = ("--shape", "x:1,3,8,8")


def test_open_shapes_are_told_and_given_ones_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(open_resize(), tmp_path / "m.onnx")

    lint(file, *TARGET)
    unasked = capsys.readouterr().out
    lint(file, *TARGET, *SHAPE)
    asked = capsys.readouterr().out

    assert "[resize-nearest-shape]" in unasked
    assert unasked.splitlines()[-2].endswith("add --simplify --shape x:?,3,?,8")
    step = unasked.splitlines()[-1]
    assert step.startswith("next: add `--simplify --shape x:?,3,?,8`, with a number for")
    assert "0 rejected, 0 silent, 0 precision, 0 unknown (2 nodes" in asked
    assert asked.splitlines()[-2].endswith("add --simplify")


def test_what_a_pipeline_made_is_not_told_to_start_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "build" / "net" / "rewrite" / "rewritten"
    folder.mkdir(parents=True)

    lint(save(resize_chain("pytorch_half_pixel"), folder / "model.onnx"), *TARGET)

    out = capsys.readouterr().out
    assert "this is what the rules of a pipeline left" in out
    assert "as delivered" not in out
    assert "init" not in out


def test_what_a_pipeline_would_convert_is_linted_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(open_resize(), tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").read_bytes()

    assert lint(file, *TARGET, *SHAPE, "--simplify") == 0

    totals, note, step = capsys.readouterr().out.splitlines()
    assert totals.startswith(f"{file}: 0 rejected, 0 silent, 0 precision, 0 unknown (1 nod")
    assert note.startswith("this is the model as a pipeline simplifies it")
    assert step.startswith(f"next: `ascendflow init NAME --onnx {file} --shape x:1,3,8,8`")
    assert [each.name for each in tmp_path.iterdir()] == ["m.onnx"]
    assert (tmp_path / "m.onnx").read_bytes() == before


@pytest.mark.parametrize("simplify", [(), ("--simplify",)])
@pytest.mark.parametrize(
    ("shape", "told"),
    [
        (("--shape", "y:1"), "'y' is no input of "),
        (("--shape", "x:1,3,8"), "does not fit the model's [n, 3, h, 8]"),
        (("--shape", "x:1,4,8,8"), "does not fit the model's [n, 3, h, 8]"),
        (("--shape", "x:1x3"), "must be name:size,size"),
        (("--shape",), "lint: option --shape requires argument"),
    ],
)
def test_a_shape_that_cannot_be_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    simplify: tuple[str, ...],
    shape: tuple[str, ...],
    told: str,
) -> None:
    file = save(open_resize(), tmp_path / "m.onnx")

    assert lint(file, *TARGET, *simplify, *shape) == 3
    assert told in capsys.readouterr().err


def test_no_shape_may_stay_open_where_it_is_simplified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(save(open_resize(), tmp_path / "m.onnx"), *TARGET, "--simplify") == 3
    assert "e.g. --shape x:1,3,224,8" in capsys.readouterr().err


@pytest.mark.parametrize("simplify", [(), ("--simplify",)])
def test_a_model_in_training_mode_is_refused_as_a_pipeline_refuses_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], simplify: tuple[str, ...]
) -> None:
    file = save(training_batch_norm(), tmp_path / "m.onnx")

    assert lint(file, *TARGET, *simplify) == 3
    error = capsys.readouterr().err
    assert (
        "m.onnx: BatchNormalization 'bn1' is in training mode; call model.eval()" in error
    )


def random() -> onnx.ModelProto:
    return model([node("RandomNormalLike", ["x"], ["y"])], [("x", [2])], [("y", [2])])


def unknown(domain: str) -> onnx.ModelProto:
    """An operator that ONNX does not have, or only its owner."""
    proto = model([node("Relu", ["x"], ["y"], name="n")], [("x", [2])], [("y", [2])])
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "FindMax", domain
    if domain:
        proto.opset_import.add(domain=domain, version=1)
    return proto


@pytest.mark.parametrize(
    ("proto", "told"),
    [
        pytest.param(random(), "is random (RandomNormalLike)", id="random"),
        pytest.param(unknown(""), "FindMax is no known operator of opset", id="onnx"),
        pytest.param(unknown("own.ops"), "operator of domain 'own.ops'", id="own"),
    ],
)
def test_what_no_pipeline_takes_is_a_fault_of_the_model_simplified_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], proto: onnx.ModelProto, told: str
) -> None:
    file = save(proto, tmp_path / "m.onnx")

    for strict in ([], ["--strict"]):
        assert lint(file, *TARGET, *strict) == 1
        assert capsys.readouterr().err == ""
        assert lint(file, *TARGET, *strict, "--simplify") == 1
        error = capsys.readouterr().err
        assert "lint: a pipeline refuses m.onnx: " in error
        assert told in error
        assert "without --simplify" in error
    # It judges nothing, so that it fails where there is nothing to list.
    precise = Precision()
    assert precise.parse_execute([file, "--cann=8.1", "--soc=Ascend310P3"]) == 0
    assert (
        precise.parse_execute([file, "--cann=8.1", "--soc=Ascend310P3", "--simplify"]) == 3
    )
    assert told in capsys.readouterr().err


def test_what_a_model_says_at_length_is_told_by_its_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    equation = "ab,bc" + " " * 300_000 + "->ac"
    nodes = [node("Einsum", ["x", "x"], ["y"], name="long", equation=equation)]
    path = save(model(nodes, [("x", [4, 4])], [("y", [4, 4])]), tmp_path / "m.onnx")

    lint(path, *TARGET)

    told = capsys.readouterr().out
    (line,) = (each for each in told.splitlines() if "einsum-no-kernel" in each)
    assert "node 'long' (Einsum): 'ab,bc " in line
    assert " ->ac' has no kernel; a pass may make a MatMul of it" in line
    assert " more ...] " in line
    assert len(told) < 4000


@pytest.mark.parametrize(
    ("arguments", "words", "told"),
    [
        (
            ["--shape"],
            {"image": "1,3,64,64"},
            "lint: takes no image=1,3,64,64\n  hint: write --shape image:1,3,64,64\n",
        ),
        (["m.onnx"], {"soc": "Ascend310P3"}, "takes no soc=Ascend310P3\n  hint: an option"),
    ],
)
def test_a_word_that_doit_takes_for_a_variable_is_told(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: dict[str, str],
    told: str,
) -> None:
    monkeypatch.setattr(doit_cmd, "_CMDLINE_VARS", words)

    assert Lint().parse_execute(arguments) == 3
    assert told in capsys.readouterr().err
