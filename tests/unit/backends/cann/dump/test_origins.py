"""Device operators and their ONNX nodes, from JSON as `atc --mode=1` writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.dump.origins import device_ops, tensors
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = "_datadump_original_op_names"
NODE, INDEX = "_datadump_origin_name", "_datadump_origin_output_index"


def strings(*texts: str) -> dict[str, Any]:
    return {"list": {"s": list(texts), "val_type": 1} if texts else {"val_type": 1}}


def attr(**values: Any) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def op(name: str, kind: str, *outputs: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    descriptions = [{"attr": attr(**each), "dtype": "DT_FLOAT"} for each in outputs]
    return {
        "attr": attr(**attributes),
        "name": name,
        "type": kind,
        "output_desc": descriptions,
    }


def written(folder: Path, *ops: dict[str, Any]) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps({"name": "m", "graph": [{"name": "g", "op": ops}]}))
    return path


MODEL = (
    op("x", "Data", {"origin_format": {"s": "NCHW"}}),
    op("trans_TransData_0", "TransData", {}, **{NODES: strings()}),
    op(
        "conv_relu",
        "Conv2D",
        {
            NODE: {"s": "relu"},
            INDEX: {"i": 0},
            "_datadump_origin_format": {"s": "NCHW"},
            "origin_format": {"s": "ND"},
            "origin_shape": {"list": {"i": [1, "3", 4, 5]}},
        },
        **{NODES: strings("conv", "relu"), "_datadump_is_multiop": {"b": True}},
    ),
    op("split", "SplitD", {}, {"origin_shape": {"list": {}}}, **{NODES: strings("split")}),
    op("fused", "Add", {}, **{NODES: strings("mul", "add")}),
    op("l1", "Conv2D", {}, **{NODES: strings("c1"), "_L1_fusion_sub_graph_no": {"s": "7"}}),
)
OUTPUTS = {
    "conv": ["c"],
    "relu": ["r"],
    "split": ["s0", "s1"],
    "mul": ["m"],
    "add": ["a"],
    "c1": ["d"],
}


def test_operators_tell_their_nodes_and_what_they_are_called(tmp_path: Path) -> None:
    ops = device_ops(written(tmp_path, *MODEL))

    assert {each.name: each.nodes for each in ops} == {
        "x": ("x",),
        "trans_TransData_0": (),
        "conv_relu": ("conv", "relu"),
        "split": ("split",),
        "fused": ("mul", "add"),
        "l1": ("c1",),
    }
    assert [each.label for each in ops] == [
        *("x", "trans_TransData_0", "conv + relu", "split", "mul + add", "group 7"),
    ]


def test_origin_of_an_output_is_preferred_and_its_layout_and_shape_are_told(
    tmp_path: Path,
) -> None:
    x, _, conv, split, fused, _ = device_ops(written(tmp_path, *MODEL))

    (output,) = conv.outputs
    assert (output.node, output.index, output.told) == ("relu", 0, True)
    assert (output.layout, output.shape) == ("NCHW", (1, 3, 4, 5))
    assert (x.outputs[0].layout, x.outputs[0].shape) == ("NCHW", None)
    assert [(each.node, each.index, each.told) for each in split.outputs] == [
        ("split", 0, False),
        ("split", 1, False),
    ]
    assert split.outputs[1].shape == ()
    assert fused.outputs[0].node == ""


def test_outputs_are_onnx_tensors_where_something_says_so(tmp_path: Path) -> None:
    assert tensors(device_ops(written(tmp_path, *MODEL)), OUTPUTS) == {
        ("conv_relu", 0): "r",
        ("split", 0): "s0",
        ("split", 1): "s1",
        ("l1", 0): "d",
    }


def test_output_that_two_operators_claim_is_nobodys_without_the_compilers_word(
    tmp_path: Path,
) -> None:
    first = op("first", "Sub", {}, **{NODES: strings("mul")})
    last = op("last", "Mul", {}, **{NODES: strings("mul")})
    told = op("last", "Mul", {NODE: {"s": "mul"}}, **{NODES: strings("mul")})

    assert tensors(device_ops(written(tmp_path, first, last)), OUTPUTS) == {}
    assert tensors(device_ops(written(tmp_path, first, told)), OUTPUTS) == {
        ("last", 0): "m"
    }


def test_output_beyond_those_of_the_node_is_no_tensor(tmp_path: Path) -> None:
    extra = op("bn", "BatchNorm", {}, {}, {INDEX: {"i": -1}}, **{NODES: strings("mul")})

    assert tensors(device_ops(written(tmp_path, extra)), OUTPUTS) == {("bn", 0): "m"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "cannot be read", id="empty"),
        pytest.param("[" * 100_000, "cannot be read", id="deep"),
        pytest.param("[]", "is not what", id="list"),
        pytest.param("{}", "KeyError: 'graph'", id="no-graph"),
        pytest.param('{"graph": []}', "has no operators", id="no-operators"),
        pytest.param(
            '{"graph": [{"op": [{"type": "Add"}]}]}', "KeyError: 'name'", id="name"
        ),
        pytest.param(
            '{"graph": [{"op": [{"name": 1, "type": "Add"}]}]}', "1 is no text", id="type"
        ),
        pytest.param('{"graph": [{"op": [3]}]}', "is not what", id="number"),
        pytest.param('{"graph": [{"op": 3}]}', "is not what", id="no-list"),
        pytest.param(
            '{"graph": [{"op": [{"name": "a", "type": "A", "attr": [{"key": "'
            + NODES
            + '", "value": {"list": {"s": [1]}}}]}]}]}',
            "1 is no text",
            id="node",
        ),
    ],
)
def test_what_is_no_json_of_an_om_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)

    with pytest.raises(StageError, match=told):
        device_ops(path)


OTHERS: tuple[Any, ...] = (
    *(None, True, 3, -1, 2**80, float("inf"), float("nan"), "text", "", [], {}),
    *([1], ["text"], [None], {"s": 1}, {"i": "text"}, {"list": 3}, {"list": {"i": ["a"]}}),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) within a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in list(inside):
        yield value, key
        if isinstance(each, dict | list):
            yield from places(each)


def test_whatever_stands_in_any_place_is_read_or_refused(tmp_path: Path) -> None:
    path = written(tmp_path, *MODEL)
    document = json.loads(path.read_text())
    refused = 0
    for container, key in places(document):
        kept = container[key]
        for other in OTHERS:
            container[key] = other
            path.write_text(json.dumps(document))
            try:
                tensors(device_ops(path), OUTPUTS)
            except StageError:
                refused += 1
        container[key] = kept
    assert refused > 500
