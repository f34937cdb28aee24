from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow import vocabulary
from ascendflow.errors import StageError
from ascendflow.graph.ingest import accept, check, read_model
from ascendflow.graph.io_spec import ValueSpec, inputs_of, outputs_of
from ascendflow.graph.load import load_model
from ascendflow.tensors import TensorSpec
from tests import exported_models as models
from tests.exported_models import model, node, value, x_of

if TYPE_CHECKING:
    from pathlib import Path


def refusal(
    proto: onnx.ModelProto, specs: list[TensorSpec], opset: int | None = None
) -> str:
    with pytest.raises(StageError) as caught:
        accept(proto, "model.onnx", specs, opset)
    return caught.value.message


def test_tensor_produced_twice_is_refused_naming_it() -> None:
    """GR05."""
    message = refusal(models.tensor_made_twice(), x_of(3))

    assert "tensor 't' is defined twice" in message
    assert "'r1'" in message
    assert "'n1'" in message


def made_twice(by: str) -> onnx.ModelProto:
    """Make `t` in Relu 'r1', and once more by something else."""
    proto = model(
        [node("Relu", ["x"], ["t"], name="r1"), node("Abs", ["t"], ["y"], name="a1")],
        [value("x", [3])],
        [value("y", [3])],
    )
    if by == "an initializer":
        proto.graph.initializer.append(models.constant("t", [1, 2, 3]))
    elif by == "an input":
        proto.graph.input.append(value("t", [3]))
    else:
        branch = helper.make_graph(
            [node("Neg", ["x"], ["t"], name="deep")], "b", [], [value("t", [3])]
        )
        branches = {"then_branch": branch, "else_branch": branch}
        proto.graph.node.append(node("If", ["c"], ["z"], name="if0", **branches))
        proto.graph.input.append(value("c", [], TensorProto.BOOL))
    return proto


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("an initializer", "by an initializer and by Relu node 'r1'"),
        ("an input", "by an input and by Relu node 'r1'"),
        ("a branch", "by the graph around it and by Neg node 'deep'"),
    ],
)
def test_tensor_of_two_origins_is_refused_naming_both(by: str, said: str) -> None:
    """GR05."""
    assert f"tensor 't' is defined twice: {said}" in refusal(made_twice(by), x_of(3))


def test_training_batch_norm_is_refused_naming_the_node() -> None:
    """GR22."""
    message = refusal(models.training_batch_norm(), x_of(2, 3, 4, 4))

    assert "'bn1' is in training mode" in message
    assert "eval()" in message


def test_inference_batch_norm_is_accepted() -> None:
    """GR22."""
    accept(models.conv_batch_norm(), "model.onnx", x_of(1, 3, 6, 6), None)


def test_batch_norm_of_opset_9_that_returns_statistics_is_refused() -> None:
    """GR22."""
    proto = models.training_batch_norm()
    del proto.graph.node[0].attribute[:]
    proto.opset_import[0].version = 9

    assert "'bn1' is in training mode" in refusal(proto, x_of(2, 3, 4, 4))


@pytest.mark.parametrize("op_type", ["RandomNormalLike", "RandomUniformLike", "Bernoulli"])
def test_random_operator_is_refused(op_type: str) -> None:
    nodes = [node(op_type, ["x"], ["r"], name="noise"), node("Add", ["x", "r"], ["y"])]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])

    said = refusal(proto, x_of(3))
    assert f"node 'noise' is random ({op_type})" in said
    assert "take the random part out of the model" in said


@pytest.mark.parametrize(
    ("training", "refused"), [(True, True), (False, False)], ids=["training", "inference"]
)
def test_dropout_is_refused_in_training_mode_only(*, training: bool, refused: bool) -> None:
    """GR22."""
    constants = [models.constant("r", 0.5), models.constant("t", training, np.bool_)]
    nodes = [node("Dropout", ["x", "r", "t"], ["y"], name="drop")]
    proto = model(nodes, [value("x", [3])], [value("y", [3])], constants)

    if refused:
        assert "Dropout 'drop' is in training mode" in refusal(proto, x_of(3))
    else:
        accept(proto, "model.onnx", x_of(3), None)


def test_dropout_whose_mode_is_an_input_is_refused() -> None:
    nodes = [node("Dropout", ["x", "r", "t"], ["y"], name="drop")]
    inputs = [value("x", [3]), value("t", [], TensorProto.BOOL)]
    proto = model(nodes, inputs, [value("y", [3])], [models.constant("r", 0.5)])
    specs = [*x_of(3), TensorSpec("t", "bool", ())]

    assert "Dropout 'drop'" in refusal(proto, specs)


def test_random_operator_inside_a_branch_is_refused() -> None:
    random = [node("RandomNormal", [], ["r"], shape=[3], name="deep")]
    then = helper.make_graph(random, "then", [], [value("r", [3])])
    other = helper.make_graph(
        [node("Identity", ["x"], ["e"])], "else", [], [value("e", [3])]
    )
    branch = node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    inputs = [value("x", [3]), value("c", [], TensorProto.BOOL)]
    proto = model([branch], inputs, [value("y", [3])])

    assert "node 'deep' is random" in refusal(
        proto, [*x_of(3), TensorSpec("c", "bool", ())]
    )


def test_every_unknown_operator_is_refused_with_node_and_domain() -> None:
    nodes = [
        node("FlashAttentionX", ["x"], ["a"], name="attn", domain="custom.ops"),
        node("FindMax", ["a"], ["b"], name="max"),
        node("FindMin", ["b"], ["y"], name=""),
    ]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    proto.opset_import.add(domain="custom.ops", version=2)
    message = refusal(proto, x_of(3))

    assert "'attn': FlashAttentionX is no known operator of domain 'custom.ops'" in message
    assert "'max': FindMax is no known operator of opset 17" in message
    assert "'y': FindMin is no known operator" in message  # it has no name of its own
    assert ": 3 problems:\n  - " in message
    assert message.count("\n  - ") == 3


def test_operator_of_onnxruntimes_own_domain_is_accepted() -> None:
    nodes = [node("Gelu", ["x"], ["y"], domain="com.microsoft")]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    proto.opset_import.add(domain="com.microsoft", version=1)

    accept(proto, "model.onnx", x_of(3), None)


def test_model_without_input_is_refused() -> None:
    nodes = [node("Constant", [], ["y"], value=models.constant("c", [1, 2]))]
    proto = model(nodes, [], [value("y", [2])])

    assert "the model has no input" in refusal(proto, [])


def test_model_without_output_is_refused() -> None:
    proto = models.relu()
    del proto.graph.output[:]

    assert "the model has no output" in refusal(proto, x_of(3))


def test_output_listed_twice_is_refused() -> None:
    proto = models.relu()
    proto.graph.output.append(proto.graph.output[0])

    assert "output 'y' is listed 2 times" in refusal(proto, x_of(3))


def test_sequence_output_is_refused() -> None:
    proto = model(
        [node("SequenceConstruct", ["x"], ["y"])],
        [value("x", [3])],
        [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, [3])],
    )

    assert "output 'y' is of type sequence" in refusal(proto, x_of(3))


def test_string_input_is_refused() -> None:
    proto = model(
        [node("Identity", ["x"], ["y"])],
        [value("x", [3], TensorProto.STRING)],
        [value("y", [3], TensorProto.STRING)],
    )

    assert "input 'x' is of type string" in refusal(proto, x_of(3))


def test_missing_opset_import_is_refused() -> None:
    """GR17."""
    proto = models.relu()
    del proto.opset_import[:]

    assert "no opset_import" in refusal(proto, x_of(3))


def test_file_cut_behind_its_graph_is_told_to_be_looked_at(tmp_path: Path) -> None:
    """GR17: protobuf cannot tell such a file from a whole one."""
    whole = models.relu().SerializeToString()
    imports = models.relu().opset_import[0].SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(whole[: whole.rindex(imports) - 2])
    cut = read_model(path)

    assert [each.op_type for each in cut.graph.node] == ["Relu"]
    assert "no opset_import" in refusal(cut, x_of(3))
    assert "cut short" in refusal(cut, x_of(3))


def test_another_opset_than_asked_for_is_refused_with_both() -> None:
    """GR18."""
    message = refusal(models.relu(opset=22), x_of(3), opset=11)

    assert "written in opset 22, the manifest asks for 11" in message


def test_unknown_input_name_is_refused_listing_the_real_ones() -> None:
    """SH01."""
    proto = model(
        [node("Relu", ["images"], ["output0"])],
        [value("images", ["batch", 3, 4, 4])],
        [value("output0", ["batch", 3, 4, 4])],
    )
    message = refusal(proto, [TensorSpec("input", "float32", (1, 3, 4, 4))])

    assert "no input 'input'; its inputs are: 'images'" in message


def test_input_that_the_manifest_leaves_out_is_refused() -> None:
    message = refusal(models.scalar_input(), x_of(2, 3))

    assert "does not name the model's input 'scale'" in message


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(
            TensorSpec("x", "uint8", (3,)), "float32 in the model, uint8", id="dtype"
        ),
        pytest.param(
            TensorSpec("x", "float32", (4,)), "[3] in the model, [4]", id="length"
        ),
        pytest.param(
            TensorSpec("x", "float32", (3, 1)), "[3] in the model, [3, 1]", id="rank"
        ),
    ],
)
def test_input_unlike_the_manifest_is_refused_with_both(
    spec: TensorSpec, said: str
) -> None:
    assert said in refusal(models.relu(), [spec])


def test_all_problems_are_said_at_once() -> None:
    message = refusal(models.tensor_made_twice(), x_of(4), opset=11)

    assert message.count("\n  - ") == 3


@pytest.mark.parametrize("length", [None, "N", -1, "?"])
def test_open_dimension_takes_the_manifests_length(length: int | str | None) -> None:
    proto = models.relu([1, 3])
    for declared in (*proto.graph.input, *proto.graph.output):
        dimension = declared.type.tensor_type.shape.dim[0]
        dimension.Clear()
        if isinstance(length, int):
            dimension.dim_value = length
        elif length is not None:
            dimension.dim_param = length
    accept(proto, "model.onnx", x_of(7, 3), None)

    assert inputs_of(proto) == (ValueSpec("x", "float32", (7, 3)),)
    assert outputs_of(proto) == (ValueSpec("y", "float32", (7, 3)),)


def test_declared_output_shape_is_replaced_by_the_inferred_one() -> None:
    proto = models.relu([3])
    proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 99
    accept(proto, "model.onnx", x_of(3), None)

    assert outputs_of(proto)[0].shape == (3,)


def test_slice_to_int64_max_reaches_the_end() -> None:
    """DT02."""
    proto = models.slice_to_the_end()
    accept(proto, "model.onnx", x_of(10), None)

    assert outputs_of(proto)[0].shape == (8,)  # 10 - 2; int32 would wrap to 7


def test_scalar_input_keeps_rank_0() -> None:
    """SH06."""
    proto = models.scalar_input()
    accept(proto, "model.onnx", [*x_of(2, 3), TensorSpec("scale", "float32", ())], None)

    assert inputs_of(proto)[1].shape == ()
    assert outputs_of(proto)[0].shape == ()


def test_local_function_is_spelled_out() -> None:
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [opset(17)]
    )
    graph = helper.make_graph(
        [helper.make_node("Twice", ["x"], ["y"], domain="own", name="t")],
        "g",
        [value("x", [3])],
        [value("y", [3])],
    )
    proto = helper.make_model(
        graph,
        functions=[function],
        opset_imports=[opset(17), opset(1, "own")],
        ir_version=8,
    )
    accept(proto, "model.onnx", x_of(3), None)

    assert [n.op_type for n in proto.graph.node] == ["Add"]
    assert not proto.functions


def opset(version: int, domain: str = "") -> onnx.OperatorSetIdProto:
    return helper.make_opsetid(domain, version)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", id="lfs-pointer"),
        pytest.param(models.relu().SerializeToString()[:-3], id="cut-short"),
    ],
)
def test_file_that_is_no_onnx_is_refused_with_its_size(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(StageError, match=rf"model.onnx: .*it has {len(content)} bytes"):
        read_model(path)


def test_file_beyond_protobufs_limit_is_refused_by_size_not_by_opset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GR17, GR29."""
    proto = models.relu()
    del proto.opset_import[:]
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    monkeypatch.setattr(vocabulary, "ONNX_FILE_LIMIT", 10)
    with pytest.raises(StageError, match="less than 2 GiB"):
        read_model(path)


def test_written_model_that_breaks_onnx_rules_is_refused(tmp_path: Path) -> None:
    proto = model([node("Relu", ["ghost"], ["y"])], [value("x", [3])], [value("y", [3])])
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    with pytest.raises(StageError, match="breaks ONNX's rules") as caught:
        check(path, "det.onnx")

    assert str(tmp_path) not in caught.value.message


def test_output_without_a_shape_is_refused_by_its_name(tmp_path: Path) -> None:
    nodes = [
        node("Gelu", ["x"], ["bare"], domain="com.microsoft"),
        node("Relu", ["x"], ["whole"]),
    ]
    outputs = [value("whole", [3]), value("bare", None)]
    proto = model(nodes, [value("x", [3])], outputs)
    proto.opset_import.add(domain="com.microsoft", version=1)
    onnx.save(proto, tmp_path / "model.onnx")

    with pytest.raises(StageError, match=r"missing.*\(output 'bare' has no shape\)$"):
        check(tmp_path / "model.onnx", "det.onnx")
    with pytest.raises(StageError, match=r"missing.*\(output 'bare' has no shape\)$"):
        load_model(tmp_path / "model.onnx")
    outputs[1].ClearField("type")
    onnx.save(model(nodes[1:], [value("x", [3])], outputs), tmp_path / "model.onnx")
    with pytest.raises(StageError, match=r"missing.*\(output 'bare' has no type\)$"):
        check(tmp_path / "model.onnx", "det.onnx")


def types_that_do_not_fit() -> onnx.ModelProto:
    """Add a float32 and an int64: onnx's reference evaluator would, ONNX's Add may not."""
    nodes = [node("Add", ["x", "one"], ["y"], name="odd")]
    one = [models.constant("one", [1], np.int64)]
    return model(nodes, [value("x", [3])], [value("y", [3])], one)


def test_model_whose_types_do_not_fit_is_refused_naming_file_and_node(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(types_that_do_not_fit(), path)
    before = path.read_bytes()
    with pytest.raises(StageError, match=r"^det\.onnx breaks ONNX's rules: .*Add.*odd"):
        check(path, "det.onnx")

    assert path.read_bytes() == before


def test_type_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    nodes = [node("Cast", ["x"], ["c"], to=2**40), node("Relu", ["c"], ["y"])]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    onnx.save(proto, tmp_path / "model.onnx")

    with pytest.raises(StageError, match=r"^det\.onnx breaks ONNX's rules: "):
        check(tmp_path / "model.onnx", "det.onnx")


def test_sparse_initializer_is_no_reason_to_refuse(tmp_path: Path) -> None:
    # onnx's inference takes it for a type of its own; onnxruntime runs the model.
    values, at = models.constant("w", [5.0]), models.constant("at", [1], np.int64)
    proto = model([node("Add", ["x", "w"], ["y"])], [value("x", [3])], [value("y", [3])])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, at, [3]))
    onnx.save(proto, tmp_path / "model.onnx")

    check(tmp_path / "model.onnx", "det.onnx")


def test_operator_without_type_inference_is_no_reason_to_refuse(tmp_path: Path) -> None:
    nodes = [
        node("Gelu", ["x"], ["g"], domain="com.microsoft"),
        node("Relu", ["g"], ["y"]),
    ]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    proto.opset_import.add(domain="com.microsoft", version=1)
    onnx.save(proto, tmp_path / "model.onnx")

    check(tmp_path / "model.onnx", "det.onnx")


def test_operator_that_inference_cannot_place_is_refused_naming_the_file() -> None:
    nodes = [node("Gelu", ["x"], ["y"], name="smooth", domain="com.microsoft")]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    said = refusal(proto, x_of(3))

    assert said.startswith("model.onnx: the model does not accept")
    assert "smooth" in said


def test_element_type_that_onnx_has_not_is_refused() -> None:
    proto = models.relu()
    proto.graph.output[0].type.tensor_type.elem_type = 65

    assert "'y'" in refusal(proto, [TensorSpec("x", "float32", (3,))])


def test_operator_version_beyond_every_integer_is_refused() -> None:
    proto = models.relu()
    proto.opset_import.append(helper.make_opsetid("far", 2**40))
    proto.graph.node[0].domain = "far"

    said = refusal(proto, [TensorSpec("x", "float32", (3,))])

    assert f"Relu is no known operator of domain 'far', version {2**40}" in said


def test_dropout_whose_mode_is_a_part_of_a_tensor_counts_as_training() -> None:
    mode = helper.make_tensor("mode", TensorProto.BOOL, [], [False])
    mode.segment.begin = 0
    nodes = [node("Dropout", ["x", "", "mode"], ["y"])]
    proto = model(nodes, [value("x", [3])], [value("y", [3])], [mode])

    assert "Dropout" in refusal(proto, x_of(3))


def test_dropout_whose_mode_is_malformed_counts_as_training() -> None:
    mode = helper.make_tensor("mode", TensorProto.BOOL, [1], [False])
    del mode.dims[:]
    mode.int32_data.append(0)
    proto = model(
        [node("Dropout", ["x", "", "mode"], ["y"])],
        [value("x", [3])],
        [value("y", [3])],
        [mode],
    )

    assert "Dropout" in refusal(proto, [TensorSpec("x", "float32", (3,))])
