"""Operators and their attributes, from files that protobuf's own writer made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import StageError
from ascendflow.om.operators import read_operators
from tests import om_files
from tests.om_files import MODEL_DEF, attrs, compressed_key, desc, graph, model_def, op

if TYPE_CHECKING:
    from pathlib import Path

WANTED = ("nodes", "origin", "index")


def written(folder: Path, *models: bytes) -> Path:
    path = folder / "net.om"
    path.write_bytes(om_files.om(*([(MODEL_DEF, each)] for each in models)))
    return path


def test_operators_of_every_graph_of_every_model_are_read(tmp_path: Path) -> None:
    described = [
        desc(1, [1], attr=attrs({"origin": "relu", "other": 3})),
        desc(1, [1], attr=attrs({"index": 1})),
    ]
    conv = op(
        "conv", "Conv2D", {"nodes": ["conv", "relu"], "big": "x"}, output_desc=described
    )
    case = op("case", "Case", {"nodes": []}, subgraph_name=["b0", "b1"])
    path = written(
        tmp_path,
        model_def([graph("g", [conv, case]), graph("b0", [op("a", "Add")])], {}),
        model_def([graph("h", [op("b", "Mul")])], {}),
    )

    found = read_operators(path, WANTED)

    assert [(each.name, each.type) for each in found] == [
        *(("conv", "Conv2D"), ("case", "Case"), ("a", "Add"), ("b", "Mul")),
    ]
    assert found[0].attributes == {"nodes": ["conv", "relu"]}
    assert found[0].outputs == ({"origin": "relu"}, {"index": 1})
    assert found[1].attributes == {"nodes": []}
    assert found[1].subgraphs == ("b0", "b1")


def test_compressed_attributes_are_spelled_out(tmp_path: Path) -> None:
    lists = {
        "om_compress_version": 1,
        "attr_name_enum": ["other", "origin"],
        "attr_value_enum": ["relu", "conv"],
        "attrs_use_string_value": [False, True],
    }
    described = [desc(1, [1], attr=attrs({compressed_key(1): 1}))]
    path = written(
        tmp_path,
        model_def([graph("g", [op("c", "Conv2D", output_desc=described)])], lists),
    )

    (found,) = read_operators(path, WANTED)

    assert found.outputs == ({"origin": "conv"},)


def test_long_lists_are_read_whole(tmp_path: Path) -> None:
    many = [f"node {n}" for n in range(900)]
    path = written(tmp_path, model_def([graph("g", [op("a", "A", {"nodes": many})])], {}))

    (found,) = read_operators(path, WANTED)

    assert found.attributes["nodes"] == many


def test_file_for_small_chips_has_none_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "net.exeom"
    path.write_bytes(om_files.om([(20, b"whatever")]))

    assert read_operators(path, WANTED) == []


def test_real_files_are_read(shared: Path) -> None:
    """GE's own: their operators are those that the inspection counts."""
    path = shared / "om" / "root_model.om"
    assert {each.type for each in read_operators(path, ())} >= {"Data", "NetOutput"}


def test_what_is_no_om_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.om"
    path.write_bytes(b"IMOD" + bytes(300))

    with pytest.raises(StageError, match=r"net\.om"):
        read_operators(path, WANTED)
