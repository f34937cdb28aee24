from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.cut import cut, why_not_cut
from ascendflow.tensors import TensorSet, TensorSpec
from tests.exported_models import constant, model, node, value
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path


def branches() -> onnx.ModelProto:
    """A split; one half is doubled, the other goes through what nobody can run."""
    nodes = [
        node("Split", ["x"], ["low", "high"], name="split", axis=0),
        node("Mul", ["low", "two"], ["doubled"], name="mul"),
        node("Add", ["high", "one"], ["raised"], name="add"),
        node("FlashX", ["raised"], ["y"], name="custom", domain="ours"),
    ]
    return model(
        nodes,
        [value("x", [4])],
        [value("y", [2])],
        [constant("two", 2.0), constant("one", 1.0)],
    )


def ingest(tmp_path: Path, proto: onnx.ModelProto, *named: str) -> Pipeline:
    made = pipeline(tmp_path, [TensorSpec("x", "float32", (4,))])
    source = made.folder / "net.onnx"
    onnx.save(proto, source)
    made.run(
        "export", {"source": source}, torch=None, onnx=True, opset=None, out_nodes=named
    )
    return made


def test_golden_is_that_of_the_tensor_the_model_is_cut_at(
    tmp_path: Path, shared: Path
) -> None:
    """GR28."""
    case = shared / "cases" / "GR28"
    x = np.load(case / "x.npy")
    made = pipeline(tmp_path, [TensorSpec("x", "float32", x.shape)])
    made.sample({"x": x})
    made.run(
        "export",
        {"source": case / "model.onnx"},
        torch=None,
        onnx=True,
        opset=None,
        out_nodes=["Conv_80:0"],
    )
    made.golden()

    golden = TensorSet(made.made("golden") / "onnx")
    assert [spec.name for spec in golden.specs(0)] == ["a"]
    assert golden.load(0, "a").tolist() == np.load(case / "expected_cut.npy").tolist()
    assert made.findings["export"].facts["outputs"] == ["a"]


def test_what_is_behind_the_cut_is_gone_and_the_order_is_as_named(tmp_path: Path) -> None:
    made = ingest(tmp_path, branches(), "split:1", "doubled")

    graph = onnx.load(made.made("exported") / "model.onnx").graph
    assert [each.op_type for each in graph.node] == ["Split", "Mul"]
    assert [each.name for each in graph.output] == ["high", "doubled"]
    assert [each.name for each in graph.initializer] == ["two"]
    assert all(each.type.tensor_type.shape.dim[0].dim_value == 2 for each in graph.output)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (["splt:0"], "'splt:0' is neither node and port, nor a tensor .* 'split:0'"),
        (["split:2"], "'split:2' has no such port: the node has 2 outputs"),
        (["x"], "'x' is neither node and port, nor a tensor that a node makes"),
        (["mul:0", "doubled"], "'mul:0' and 'doubled' are one tensor"),
    ],
)
def test_name_of_nothing_is_refused(tmp_path: Path, named: list[str], told: str) -> None:
    """GR28: unknown -> reject."""
    with pytest.raises(StageError, match=told):
        ingest(tmp_path, branches(), *named)


def test_weight_listed_as_input_goes_with_what_read_it() -> None:
    proto = branches()
    proto.graph.input.append(value("one", []))

    assert list(why_not_cut(proto, ["mul:0"])) == []
    cut(proto, ["mul:0"])

    assert [each.name for each in proto.graph.input] == ["x"]


def test_tensor_of_a_name_with_a_colon_is_found() -> None:
    proto = model(
        [node("Relu", ["x"], ["out:0"], name="relu")],
        [value("x", [1])],
        [value("out:0", [1])],
    )

    assert list(why_not_cut(proto, ["out:0", "relu:0"])) == [
        "convert.out_nodes: 'out:0' and 'relu:0' are one tensor"
    ]
