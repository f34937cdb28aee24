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
from onnx import TensorProto, helper, numpy_helper

from ascendflow.manifest import schema
from ascendflow.tasks.commands.lint import Lint
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

    first, cured, source, second, cure, _, totals = capsys.readouterr().out.splitlines()
    assert first.startswith("error: rejected: node 'refused' (Resize): ")
    assert cured.strip() == "cure: rule resize-to-matmul"
    assert re.fullmatch(r"  confidence medium: canndev resize_plugin\.cc .*", source)
    assert second.startswith("warning: silent: node 'wrong' (Resize): ")
    assert second.endswith(" [resize-half-pixel]")
    assert cure.strip() == "cure: rule resize-half-pixel"
    assert "1 rejected, 1 silent, 0 precision, 0 unknown (2 nodes; CANN 8.1" in totals


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
    """Weights of thirds are no fp16 numbers."""
    proto = resize(
        [1, 1, 4, 4],
        sizes=[1, 1, 12, 12],
        mode="linear",
        coordinate_transformation_mode="pytorch_half_pixel",
    )

    assert lint(save(proto, tmp_path / "m.onnx"), *TARGET) == 0
    assert "0 silent, 1 precision" in capsys.readouterr().out


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
        pytest.param(b"version https://git-lfs", "not a readable ONNX model", id="pointer"),
        pytest.param(GOOD[:-40], "not a readable ONNX model", id="cut-short"),
        pytest.param(mistyped(), "breaks ONNX's rules: .*mode", id="attribute-type"),
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

    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(told, line), line


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


def test_a_sparse_initializer_is_no_tensor_that_nothing_makes(tmp_path: Path) -> None:
    """onnx-ir does not know it."""
    proto = _unchecked([node("Add", ["x", "s"], ["b"])])
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [2.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    sparse = helper.make_sparse_tensor(values, indices, [1])
    proto.graph.sparse_initializer.append(sparse)

    assert lint(save(proto, tmp_path / "m.onnx"), *TARGET) == 0
