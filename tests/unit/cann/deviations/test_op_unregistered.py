from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.cann.deviations.op_unregistered import OpUnregistered
from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

INT64 = TensorProto.INT64


def unchecked(
    nodes: list[onnx.NodeProto], opset: int = 15, **domains: int
) -> onnx.ModelProto:
    """Make a model of float vectors from x to y that onnx's checker need not like."""
    vectors = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", vectors[:1], vectors[1:])
    opsets = {"": opset, **{k.replace("_", "."): v for k, v in domains.items()}}
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*o) for o in opsets.items()], ir_version=8
    )


def looped(inner: str, op_type: str = "Loop") -> onnx.ModelProto:
    """Make y = x, run through `inner` three times."""
    flags = [
        helper.make_tensor_value_info("i", INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
    ]
    values = [helper.make_tensor_value_info(name, 1, [2]) for name in ("v", "w")]
    nodes = [node("Identity", ["go"], ["on"]), node(inner, ["v"], ["w"])]
    on = helper.make_tensor_value_info("on", TensorProto.BOOL, [])
    body = helper.make_graph(nodes, "body", [*flags, values[0]], [on, values[1]])
    return model(
        [node(op_type, ["n", "", "x"], ["y"], body=body)],
        [("x", [2])],
        [("y", [2])],
        {"n": np.array(3, np.int64)},
    )


@pytest.mark.parametrize("cann", ["6.0", "8.1", "8.5", "9.1"])
def test_quantised_nodes_are_rejected_by_every_version(cann: str, tmp_path: Path) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s"], ["q"]),
        node("DequantizeLinear", ["q", "s"], ["y"]),
    ]
    constants = {"s": np.array(0.5, F32)}
    proto = model(nodes, [("x", [2])], [("y", [2])], constants, opset=15)

    assert linted(proto, cann=cann) == [
        (name, "op-unregistered", "rejected") for name in "qy"
    ]
    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path, cann=cann)
    assert "cut them off the model" in str(caught.value.hint)
    for name, op_type in (("q", "QuantizeLinear"), ("y", "DequantizeLinear")):
        line = f"node {name!r} ({op_type}): no parser is registered for ai.onnx::15::"
        assert line + op_type in caught.value.message


def test_every_custom_node_is_named_with_its_domain(tmp_path: Path) -> None:
    """GR16."""
    nodes = [
        node("Attention", ["x"], ["a"], name="/blk0/attn1", domain="custom.ops"),
        node("FindMax", ["a"], ["b"], name="/tome1/FindMax"),
        node("Attention", ["b"], ["y"], name="/blk1/attn1", domain="custom.ops"),
    ]
    proto = unchecked(nodes, custom_ops=1)

    assert linted(proto) == [
        ("", "opset-imports", "rejected"),
        *((made.name, "op-unregistered", "rejected") for made in nodes),
    ]
    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path)
    for spelled in ("custom.ops::1::Attention", "ai.onnx::15::FindMax"):
        assert spelled in caught.value.message


@pytest.mark.parametrize(
    ("file", "name", "spelled"),
    [
        ("model", "/blk0/attn1", "custom.ops::1::FlashAttentionX"),
        ("unknown_in_default_domain", "/tome1/FindMax", "ai.onnx::11::FindMax"),
    ],
)
def test_published_models_are_refused_by_node_type_and_domain(
    tmp_path: Path, shared: Path, file: str, name: str, spelled: str
) -> None:
    """GR16."""
    proto = onnx.load(shared / "cases" / "GR16" / f"{file}.onnx")

    assert (name, "op-unregistered", "rejected") in linted(proto)
    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path)
    assert f"node {name!r}" in caught.value.message
    assert spelled in caught.value.message


def test_a_custom_suppression_is_refused_with_its_options(tmp_path: Path) -> None:
    """OP13, open-mmlab/mmdeploy#2751: boxes are suppressed and their index returned."""
    nms = node(
        "TRTBatchedNMS", ["x"], ["y"], domain="mmdeploy", return_index=1, keep_topk=5
    )
    proto = unchecked([nms], mmdeploy=1)

    assert ("y", "op-unregistered", "rejected") in linted(proto)
    with pytest.raises(
        StageError,
        match=r"node 'y' \(TRTBatchedNMS\): no parser is registered for "
        r"mmdeploy::1::TRTBatchedNMS with keep_topk, return_index",
    ):
        convert(proto, tmp_path)


@pytest.mark.parametrize("cann", ["6.0", "8.1", "9.1"])
def test_at_both_ends_of_the_window_it_is_named(cann: str) -> None:
    """RNN is in ONNX since opset 1 and has no parser in any version."""
    weights = {"w": np.ones((1, 2, 3), np.float32), "r": np.ones((1, 2, 2), np.float32)}
    made = node("RNN", ["x", "w", "r"], ["y"], name="rnn", hidden_size=2)
    for opset in (8, 15 if cann == "6.0" else 18):
        proto = model([made], [("x", [1, 1, 3])], [("y", [1, 1, 1, 2])], weights, opset)
        assert linted(proto, "op-unregistered", cann=cann) == [
            ("rnn", "op-unregistered", "rejected")
        ]


def test_a_loop_is_rejected_and_so_is_what_is_in_it(tmp_path: Path) -> None:
    proto = looped("Relu")
    inside = looped("Erf")
    inside.graph.node[0].attribute[0].g.node[1].op_type = "Hann"

    assert linted(proto, "loop-unregistered") == [("y", "loop-unregistered", "rejected")]
    assert {found.node for found in linted(inside)} == {"y", "w"}
    with pytest.raises(StageError, match=r"'y' \(Loop\): no parser .*::17::Loop"):
        convert(proto, tmp_path)


def test_a_call_of_a_local_function_is_rejected_and_its_body_seen(tmp_path: Path) -> None:
    proto = unchecked([node("Twice", ["x"], ["y"], domain="mine")], mine=1)
    body = [node("Add", ["a", "a"], ["b"]), node("Fancy", ["b"], ["c"])]
    opset = [helper.make_opsetid("", 15)]
    proto.functions.append(helper.make_function("mine", "Twice", ["a"], ["c"], body, opset))

    found = linted(proto)

    assert found[1:] == [
        ("y", "op-unregistered", "rejected"),
        ("c", "op-unregistered", "rejected"),
    ]
    with pytest.raises(StageError, match=r"'y' \(Twice\): .* local function; inline it"):
        convert(proto, tmp_path)


def reduced(op_type: str, opset: int) -> onnx.ModelProto:
    axes = {"axes": np.array([1], np.int64)} if opset >= 18 else {}
    attributes = {} if opset >= 18 else {"axes": [1]}
    made = node(op_type, ["x", *axes], ["y"], **attributes)
    return model([made], [("x", [2, 5])], [("y", [2, 1])], axes, opset)


def grouped() -> onnx.ModelProto:
    constants = {"scale": np.array([0.5, 2], F32), "bias": np.array([1, -1], F32)}
    made = node("InstanceNormalization", ["x", "scale", "bias"], ["y"])
    proto = model([made], [("x", [2, 4, 3])], [("y", [2, 4, 3])], constants, 18)
    made = node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=2)
    proto.graph.node[0].CopyFrom(made)  # which onnx's checker calls deprecated
    return proto


def layered() -> onnx.ModelProto:
    constants = {"scale": np.linspace(0.5, 2, 5, dtype=F32), "bias": np.ones(5, F32)}
    made = node("LayerNormalization", ["x", "scale", "bias"], ["y"])
    return model([made], [("x", [2, 5])], [("y", [2, 5])], constants)


def unary(op_type: str, opset: int = 17, domain: str = "") -> onnx.ModelProto:
    made = model(
        [node("Relu", ["x"], ["y"])], [("x", [2, 5])], [("y", [2, 5])], opset=opset
    )
    made.graph.node[0].op_type, made.graph.node[0].domain = op_type, domain
    if domain:
        made.opset_import.add(domain=domain, version=1)
    return made


def cast_like() -> onnx.ModelProto:
    constants = {"like": np.zeros(1, np.int32)}
    outputs: list[Any] = [("y", [2, 5], TensorProto.INT32)]
    made = node("CastLike", ["x", "like"], ["y"])
    return model([made], [("x", [2, 5])], outputs, constants)


CURABLE = [
    pytest.param(layered(), "layer-normalization", "8.1", "unknown", id="layer-8.1"),
    pytest.param(layered(), "layer-normalization", "8.5", "unknown", id="layer-8.5"),
    pytest.param(grouped(), "group-normalization", "9.1", "rejected", id="group"),
    pytest.param(unary("Mish", 18), "mish", "8.1", "unknown", id="mish"),
    pytest.param(cast_like(), "cast-like", "8.1", "unknown", id="cast-like"),
    pytest.param(reduced("ReduceL1", 18), "reduce-norm", "8.5", "rejected", id="l1"),
    pytest.param(reduced("ReduceL2", 18), "reduce-norm", "8.1", "rejected", id="l2"),
]


@pytest.mark.parametrize(("proto", "kind", "cann", "consequence"), CURABLE)
def test_what_a_rule_spells_otherwise_is_refused_and_then_converts_and_agrees(
    proto: onnx.ModelProto, kind: str, cann: str, consequence: str, tmp_path: Path
) -> None:
    name = f"{kind}-unregistered"
    (deviation,) = (each for each in OpUnregistered.__subclasses__() if each.name == name)
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    x = {"x": np.random.default_rng(0).standard_normal(shape).astype(F32) * 4}

    assert linted(proto, name, cann=cann) == [("y", name, consequence)]
    refusal = StageError if consequence == "rejected" else NotModelledError
    with pytest.raises(refusal, match=r"node 'y' \(") as caught:
        convert(proto, tmp_path, cann=cann)
    assert f"rule '{deviation.cure}'" in str(caught.value.hint)

    assert deviation.cure is not None
    y = emulate(cured(proto, deviation.cure), x, cann=cann, **FP32)["y"]
    # fp32 throughout; the spellings round in other places
    np.testing.assert_allclose(y, run(proto, x)["y"], rtol=1e-5, atol=1e-5)


def test_onnxruntimes_gelu_is_refused_and_then_converts_and_agrees(tmp_path: Path) -> None:
    proto = unary("Gelu", domain="com.microsoft")
    x = {"x": np.linspace(-6, 6, 10, dtype=F32).reshape(2, 5)}

    assert linted(proto) == [("y", "gelu-unregistered", "rejected")]
    with pytest.raises(StageError, match=r"no parser .* com.microsoft::1::Gelu"):
        convert(proto, tmp_path)

    y = emulate(cured(proto, "gelu-to-erf"), x, **FP32)["y"]
    np.testing.assert_allclose(y, run(proto, x)["y"], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("proto", "cann"),
    [
        pytest.param(reduced("ReduceL1", 17), "8.5", id="l1-17"),
        pytest.param(reduced("ReduceL2", 15), "6.0", id="l2-15"),
        pytest.param(unary("Mish", 18), "8.5", id="mish"),
        pytest.param(cast_like(), "9.0", id="cast-like"),
        pytest.param(unary("Softplus", 18), "8.1", id="softplus"),
        pytest.param(unary("Erf", 15), "6.0", id="erf"),
        pytest.param(unary("HardSwish", 14), "6.0", id="hard-swish"),
        pytest.param(unary("Gelu", 20), "8.1", id="opset-window-says-it"),
    ],
)
def test_what_has_a_parser_is_not_named(proto: onnx.ModelProto, cann: str) -> None:
    found = linted(proto, cann=cann)

    others = {"opset-window", "not-emulated"}
    assert [each for each in found if each.deviation not in others] == []
