from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import helper

from ascendflow.errors import StageError
from ascendflow.graph.canonical import _serialised, canonicalise, save
from tests import exported_models as models
from tests.exported_models import model, node, value

if TYPE_CHECKING:
    from pathlib import Path


def test_nameless_nodes_get_op_type_and_position() -> None:
    """GR03."""
    proto = models.nameless()
    canonicalise(proto)

    assert [n.name for n in proto.graph.node] == ["Abs_0", "Relu_1", "Abs_2"]


def test_duplicate_name_is_kept_by_its_first_bearer_only() -> None:
    """GR03."""
    nodes = [
        node("Abs", ["x"], ["a"], name="n"),
        node("Relu", ["a"], ["b"], name="n"),
        node("Abs", ["b"], ["y"], name="Relu_1"),
    ]
    proto = model(nodes, [value("x", [3])], [value("y", [3])])
    canonicalise(proto)

    assert [n.name for n in proto.graph.node] == ["n", "Relu_1_1", "Relu_1"]


def test_names_are_unique_across_subgraphs() -> None:
    """GR03."""
    branches = [
        helper.make_graph([node("Abs", ["x"], [out], name="n")], out, [], [value(out, [3])])
        for out in ("t", "e")
    ]
    choose = node(
        "If", ["c"], ["y"], name="n", then_branch=branches[0], else_branch=branches[1]
    )
    inputs = [value("x", [3]), value("c", [], onnx.TensorProto.BOOL)]
    proto = model([choose], inputs, [value("y", [3])])
    canonicalise(proto)
    inner = [a.g.node[0].name for a in proto.graph.node[0].attribute]

    assert len({"n", *inner}) == 3
    assert proto.graph.node[0].name == "n"


def test_initializer_is_no_input_afterwards() -> None:
    """GR01."""
    proto = models.initializer_as_input()
    canonicalise(proto)
    onnx.checker.check_model(proto)

    assert [i.name for i in proto.graph.input] == ["x"]
    assert proto.ir_version == 4  # the first that allows it


def test_notes_of_the_exporter_leave_no_trace() -> None:
    plain, noted = models.relu(), models.relu()
    noted.producer_name, noted.producer_version, noted.doc_string = (
        "pytorch",
        "2.13",
        "/home/me",
    )
    noted.model_version = 7
    noted.domain = "me"
    noted.metadata_props.add(key="path", value="/checkout/model.py")
    noted.graph.doc_string = "/home/me"
    noted.graph.metadata_props.add(key="k", value="v")
    noted.graph.node[0].doc_string = 'File "/checkout/model.py", line 3'
    noted.graph.node[0].metadata_props.add(key="k", value="v")
    noted.graph.input[0].doc_string = "/home/me"
    noted.graph.output[0].metadata_props.add(key="k", value="v")
    noted.opset_import.add(domain="ai.onnx.ml", version=1)
    canonicalise(plain)
    canonicalise(noted)

    assert noted.SerializeToString() == plain.SerializeToString()


def test_other_spelling_of_the_default_domain_becomes_the_usual_one() -> None:
    plain, spelled = models.relu(), models.relu()
    spelled.opset_import[0].domain = "ai.onnx"
    spelled.graph.node[0].domain = "ai.onnx"
    canonicalise(plain)
    canonicalise(spelled)

    assert spelled.SerializeToString() == plain.SerializeToString()


def test_import_that_a_node_needs_is_kept() -> None:
    proto = models.relu()
    proto.graph.node[0].domain = "com.example"
    proto.opset_import.add(domain="com.example", version=3)
    canonicalise(proto)

    assert [(o.domain, o.version) for o in proto.opset_import] == [
        ("", 17),
        ("com.example", 3),
    ]


def test_canonical_form_is_a_fixed_point() -> None:
    proto = models.conv_batch_norm()
    canonicalise(proto)
    once = proto.SerializeToString()
    canonicalise(proto)

    assert proto.SerializeToString() == once


def test_attribute_without_a_tensor_stays_without() -> None:
    nodes = [node("Unsqueeze", ["x"], ["y"], axes=[0])]
    proto = model(nodes, [value("x", [3])], [value("y", [1, 3])], opset=11)
    canonicalise(proto)
    onnx.checker.check_model(proto)

    assert not proto.graph.node[0].attribute[0].HasField("t")


def test_save_never_writes_into_a_folder_that_exists(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        save(models.relu(), tmp_path, tmp_path)


def test_graph_too_large_for_protobuf_is_refused() -> None:
    """GR29."""

    class Huge:
        """Stands in for a model with 2 GiB of Constant nodes."""

        def SerializeToString(self, *, deterministic: bool) -> bytes:  # noqa: N802
            raise ValueError(f"exceeds maximum protobuf size ({deterministic=})")

    with pytest.raises(StageError, match="2 GiB"):
        _serialised(Huge())  # type: ignore[arg-type]
