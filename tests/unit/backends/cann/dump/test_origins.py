"""Device operators and their ONNX nodes, from OMs that protobuf's own writer made."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.dump.origins import device_ops, node_ops, tensors
from ascendflow.errors import StageError
from tests import om_files

if TYPE_CHECKING:
    from pathlib import Path

NODES = "_datadump_original_op_names"
NODE, INDEX = "_datadump_origin_name", "_datadump_origin_output_index"
FLOAT = 1


def op(name: str, kind: str, *outputs: dict[str, Any], **attributes: Any) -> Any:
    described = [om_files.desc(FLOAT, [1], attr=om_files.attrs(each)) for each in outputs]
    return om_files.op(name, kind, attributes, output_desc=described)


def written(folder: Path, *ops: Any) -> Path:
    path = folder / "model.om"
    model = om_files.model_def([om_files.graph("g", ops)], {})
    path.write_bytes(om_files.om([(om_files.MODEL_DEF, model)]))
    return path


MODEL = (
    op("x", "Data", {"origin_format": "NCHW"}),
    op("trans_TransData_0", "TransData", {}, **{NODES: []}),
    op(
        "conv_relu",
        "Conv2D",
        {
            NODE: "relu",
            INDEX: 0,
            "_datadump_origin_format": "NCHW",
            "origin_format": "ND",
            "origin_shape": [1, 3, 4, 5],
        },
        **{NODES: ["conv", "relu"], "_datadump_is_multiop": True},
    ),
    op("split", "SplitD", {}, {"origin_shape": []}, **{NODES: ["split"]}),
    op("fused", "Add", {}, **{NODES: ["mul", "add"]}),
    op("l1", "Conv2D", {}, **{NODES: ["c1"], "_L1_fusion_sub_graph_no": "7"}),
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
    first = op("first", "Sub", {}, **{NODES: ["mul"]})
    last = op("last", "Mul", {}, **{NODES: ["mul"]})
    told = op("last", "Mul", {NODE: "mul"}, **{NODES: ["mul"]})

    assert tensors(device_ops(written(tmp_path, first, last)), OUTPUTS) == {}
    assert tensors(device_ops(written(tmp_path, first, told)), OUTPUTS) == {
        ("last", 0): "m"
    }


def test_output_beyond_those_of_the_node_is_no_tensor(tmp_path: Path) -> None:
    extra = op("bn", "BatchNorm", {}, {}, {INDEX: -1}, **{NODES: ["mul"]})

    assert tensors(device_ops(written(tmp_path, extra)), OUTPUTS) == {("bn", 0): "m"}


def test_nodes_tell_their_operators_and_a_fused_one_names_all(tmp_path: Path) -> None:
    second = op("second", "Sub", {}, **{NODES: ["split"]})

    assert node_ops(device_ops(written(tmp_path, *MODEL, second))) == {
        "add": "Add (mul + add)",
        "c1": "Conv2D (group 7)",
        "conv": "Conv2D (conv + relu)",
        "mul": "Add (mul + add)",
        "relu": "Conv2D (conv + relu)",
        "split": "SplitD, Sub",
        "x": "Data",
    }


def test_operators_of_all_graphs_are_there_and_branches_share_an_output(
    tmp_path: Path,
) -> None:
    called = om_files.op("case", "Case", {NODES: []}, subgraph_name=["b0", "b1"])
    graphs = [om_files.graph("g", [called])]
    for name in ("b0", "b1"):
        mul = op(f"mul_{name}", "Mul", {}, **{NODES: ["mul"]})
        graphs.append(om_files.graph(name, [mul]))
    path = tmp_path / "model.om"
    model = om_files.model_def(graphs, {})
    path.write_bytes(om_files.om([(om_files.MODEL_DEF, model)]))

    case, first, second = device_ops(path)

    assert case.subgraphs == ("b0", "b1")
    assert (first.name, second.name) == ("mul_b0", "mul_b1")
    assert tensors((case, first, second), OUTPUTS) == {
        ("mul_b0", 0): "m",
        ("mul_b1", 0): "m",
    }


def test_names_of_many_nodes_are_read_whole(tmp_path: Path) -> None:
    many = [f"layers/{n}/attention/MatMul" for n in range(500)]

    (fused,) = device_ops(written(tmp_path, op("big", "Fused", {}, **{NODES: many})))

    assert fused.nodes == tuple(many)


@pytest.mark.parametrize(
    ("output", "attributes"),
    [
        ({NODE: 3}, {}),
        ({INDEX: "0"}, {}),
        ({"origin_shape": [1.5]}, {}),
        ({"origin_shape": 3}, {}),
        ({}, {NODES: "conv"}),
        ({}, {NODES: [1]}),
        ({}, {"_L1_fusion_sub_graph_no": 7}),
    ],
)
def test_attribute_of_another_kind_is_refused(
    tmp_path: Path, output: dict[str, Any], attributes: dict[str, Any]
) -> None:
    path = written(tmp_path, op("a", "Add", output, **attributes))

    with pytest.raises(StageError, match=r"the attribute .* has the value"):
        device_ops(path)


def test_what_is_no_whole_om_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, *MODEL)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(StageError):
            device_ops(path)


def test_whatever_stands_in_any_place_is_read_or_refused(tmp_path: Path) -> None:
    path = written(tmp_path, *MODEL)
    whole = path.read_bytes()
    chance = random.Random(5)  # noqa: S311 - to be repeated
    refused = 0
    for _ in range(3000):
        changed = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(256, len(changed))] = chance.randrange(256)
        path.write_bytes(changed)
        try:
            ops = device_ops(path)
            tensors(ops, OUTPUTS)
            node_ops(ops)
        except StageError:
            refused += 1
    assert 500 < refused < 2900
