"""The lint stage: what stops the run, and what is a warning."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import onnx
import pytest

from ascendflow.errors import NotModelledError, StageError
from ascendflow.manifest import schema
from ascendflow.stages.lint import Lint
from tests.emulation import target
from tests.models import F32, model, node, resize_chain
from tests.stages import context

if TYPE_CHECKING:
    from pathlib import Path


def run(
    root: Path,
    proto: onnx.ModelProto,
    *,
    emulated: bool = True,
    origins: dict[str, Any] | None = None,
    **config: Any,
) -> Any:
    (root / "rewritten").mkdir()
    (root / "nodes.json").write_text(json.dumps({"nodes": origins or {}}))
    onnx.save(proto, root / "rewritten" / "model.onnx")
    ctx = context(Lint, root, {**target(**config), "emulated": emulated})
    Lint().run(ctx)
    return ctx


def test_files_of_precision_are_read_as_the_manifest_is(tmp_path: Path) -> None:
    kept = tmp_path / "keep.cfg"
    kept.write_text("OpType::Relu\nno such node\n")
    (tmp_path / "rewritten").mkdir()
    onnx.save(resize_chain("half_pixel"), tmp_path / "rewritten" / "model.onnx")
    ctx = context(Lint, tmp_path, {**target(), "emulated": False})

    with pytest.raises(StageError, match=r"convert\.keep_dtype: no node"):
        Lint().run(dataclasses.replace(ctx, files={"keep_dtype": kept}))


def cubics() -> onnx.ModelProto:
    nodes = [
        node("Resize", ["x", "", "up"], ["a"], mode="cubic"),
        node("Resize", ["a", "", "up"], ["b"], mode="linear"),
        node("Resize", ["b", "", "up"], ["c"], mode="cubic"),
    ]
    up = {"up": np.array([1, 1, 2, 2], F32)}
    return model(nodes, [("x", [1, 1, 2, 2])], [("c", [1, 1, 16, 16])], up)


def test_what_is_silent_becomes_one_warning_for_all_its_nodes(tmp_path: Path) -> None:
    ctx = run(tmp_path, resize_chain("half_pixel"))

    document = json.loads(ctx.outputs["lint.json"].read_text())
    jsonschema.validate(document, json.loads(schema.read("lint")))
    assert document["totals"]["silent"] == 8
    (warning,) = ctx.findings.warnings
    assert warning.startswith(
        "resize-half-pixel, silent, confidence medium, 8 nodes (u0, u2"
    )
    assert warning.endswith("; cure: rule resize-half-pixel")


def test_what_is_rejected_stops_the_run_and_names_every_node(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        run(tmp_path, cubics())

    head, *told = caught.value.message.splitlines()
    assert head == "lint: CANN 8.1 refuses:"
    assert [line.split()[1] for line in told] == ["'a'", "'c'"]
    assert all("cure: rule resize-to-matmul" in line for line in told)
    assert "`rewrite: {rules: auto}`" in (caught.value.hint or "")


def doubled(*op_types: str) -> onnx.ModelProto:
    names = ["x", *(f"t{index}" for index, _ in enumerate(op_types))]
    nodes = [
        node(op_type, [one], [other])
        for op_type, one, other in zip(op_types, names, names[1:], strict=False)
    ]
    double = onnx.TensorProto.DOUBLE
    return model(nodes, [("x", [2], double)], [(names[-1], [2], double)])


def test_what_convert_would_not_compute_stops_the_run_too(tmp_path: Path) -> None:
    with pytest.raises(NotModelledError) as caught:
        run(tmp_path, doubled("Neg", "Abs"))

    head, *told = caught.value.message.splitlines()
    assert head == "lint: the emulator has no model of:"
    assert [line.split()[1] for line in told] == ["'t0'", "'t1'"]
    assert all("is float64" in line for line in told)
    assert caught.value.hint == "no rule helps here: change the model, as each line says"
    document = json.loads((tmp_path / "out" / "lint.json").read_text())
    jsonschema.validate(document, json.loads(schema.read("lint")))
    assert [each["stops_convert"] for each in document["findings"]] == [True, True]
    assert (
        caught.value.hint == "no rule helps here: change the model, as each line says"
    )  # no rule cures them


def test_the_line_of_the_model_that_made_a_node_is_told_where_it_is_known(
    tmp_path: Path,
) -> None:
    made = {
        "t0": {"module": "a", "source": "model.py:7"},
        "t1": {"module": "", "source": ""},
    }
    for name in ("refused", "warned"):
        (tmp_path / name).mkdir()
    with pytest.raises(NotModelledError) as caught:
        run(tmp_path / "refused", doubled("Neg", "Abs"), origins=made)
    ctx = run(tmp_path / "warned", doubled("Neg", "Abs"), emulated=False, origins=made)

    assert "  node 't0' (Neg, model.py:7): tensor" in caught.value.message
    assert "  node 't1' (Abs): tensor" in caught.value.message
    assert "2 nodes (t0 at model.py:7, t1): " in ctx.findings.warnings[0]


def test_refusal_for_keep_dtype_alone_names_it(tmp_path: Path) -> None:
    weights = {"w": np.ones((1, 1, 1, 1), np.float32)}
    conv = node("Conv", ["x", "w"], ["y"], name="conv", kernel_shape=[1, 1])
    proto = model([conv], [("x", [1, 1, 4, 4])], [("y", [1, 1, 4, 4])], weights)

    with pytest.raises(NotModelledError) as caught:
        run(tmp_path, proto, keep_dtype=["conv"])

    (line,) = [each for each in caught.value.message.splitlines() if "'conv'" in each]
    assert line.endswith("no rule cures it; take it out of convert.keep_dtype")
    assert (caught.value.hint or "").startswith("convert.keep_dtype keeps conv in types")


def test_what_is_not_known_is_a_warning_where_atc_converts(tmp_path: Path) -> None:
    (warning,) = run(tmp_path, doubled("Neg", "Abs"), emulated=False).findings.warnings

    assert warning.startswith("not-emulated, unknown, confidence low, 2 nodes (t0, t1)")


def test_what_cann_refuses_stops_the_run_where_atc_converts_too(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        run(tmp_path, unregistered_behind_a_double(), emulated=False)

    assert [line.split()[1] for line in caught.value.message.splitlines()[1:]] == ["'t1'"]


def unregistered_behind_a_double() -> onnx.ModelProto:
    proto = doubled("Neg", "Abs")
    proto.graph.node[1].op_type = "Det2"
    return proto


def test_what_cann_refuses_comes_first_and_the_rest_is_told_too(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        run(tmp_path, unregistered_behind_a_double())

    refused, _, unknown = caught.value.message.partition("\nand the emulator has no model")
    assert "lint: CANN 8.1 refuses:\n  node 't1' (Det2): no parser" in refused
    assert "node 't0' (Neg): tensor 'x' is float64" in unknown


def test_what_is_computed_both_ways_stops_nothing(tmp_path: Path) -> None:
    ctx = run(tmp_path, resize_chain("half_pixel"), cann="9.1")

    document = json.loads(ctx.outputs["lint.json"].read_text())
    assert document["totals"]["unknown"] > 0
    assert not any(each["stops_convert"] for each in document["findings"])


def test_a_rule_that_would_skip_the_node_is_no_cure(tmp_path: Path) -> None:
    pool = node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2])
    outputs: list[Any] = [("y", [1, 1, 3, 3]), ("i", [1, 1, 3, 3], onnx.TensorProto.INT64)]

    with pytest.raises(StageError, match="drop-pool-indices is against it, but skips"):
        run(tmp_path, model([pool], [("x", [1, 1, 4, 4])], outputs))


def test_a_model_that_is_right_warns_of_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, resize_chain("pytorch_half_pixel")).findings.warnings == []


def test_a_target_that_is_not_modelled_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotModelledError, match="lint: soc_version 'Ascend610'"):
        run(tmp_path, resize_chain("asymmetric"), soc_version="Ascend610")


def test_what_no_rule_cures_comes_with_advice(tmp_path: Path) -> None:
    proto = model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])], opset=19)

    with pytest.raises(StageError, match="no rule cures it; export again with opset 15, "):
        run(tmp_path, proto)

    document = json.loads((tmp_path / "out" / "lint.json").read_text())
    jsonschema.validate(document, json.loads(schema.read("lint")))
    assert "opset: 15" in document["findings"][0]["advice"]


def test_settings_that_convert_refuses_are_not_linted(tmp_path: Path) -> None:
    config: Any = {"optypelist_for_implmode": ["Gelu"]}

    with pytest.raises(NotModelledError, match=r"^lint: .* needs op_select_implmode"):
        run(tmp_path, resize_chain("pytorch_half_pixel"), **config)


def test_a_real_atc_is_asked_of_what_is_unknown(tmp_path: Path) -> None:
    ctx = run(tmp_path, doubled("Neg", "Abs"), emulated=False)

    (warning,) = ctx.findings.warnings
    assert ", unknown, confidence " in warning
    assert "2 nodes (t0, t1)" in warning
    assert "is float64" in warning


def test_a_real_atc_is_not_asked_of_what_it_refuses(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        run(tmp_path, unregistered_behind_a_double(), emulated=False)

    assert caught.value.message.startswith(
        "lint: CANN 8.1 refuses:\n  node 't1' (Det2): no parser"
    )
    assert "the emulator" not in caught.value.message


@pytest.mark.parametrize(
    "other",
    [
        {"soc_version": "Ascend610"},
        {"soc_version": "Ascend999"},
        {"cann": "9.9"},
        {"precision_mode": "mixed_hif8"},
    ],
)
def test_a_real_atc_may_know_a_target_that_we_do_not(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    chain = resize_chain("half_pixel")
    ctx = run(tmp_path, chain, emulated=False, **other)

    (warning,) = ctx.findings.warnings
    assert warning.endswith("; nothing was looked for, ATC judges")
    document = json.loads(ctx.outputs["lint.json"].read_text())
    jsonschema.validate(document, json.loads(schema.read("lint")))
    assert (document["nodes"], document["findings"]) == (len(chain.graph.node), [])


GEARS = [{"x": [1, 2, 8, 6]}, {"x": [1, 2, 3, 6]}]


def opened(**kind: Any) -> onnx.ModelProto:
    """Shorten an open H to half, and pool an open W 2 by 2."""
    nodes = [
        node("Resize", ["x", "", "half"], ["a"], name="size", mode="linear", **kind),
        node("MaxPool", ["a"], ["y"], name="pool", kernel_shape=[1, 3], strides=[1, 2],
             auto_pad="SAME_LOWER"),
    ]  # fmt: skip
    half = {"half": np.array([1, 1, 0.5, 2], F32)}
    before: list[int | str] = [1, 2, "h", "w"]
    after: list[int | str] = [1, 2, "i", "j"]
    return model(nodes, [("x", before)], [("y", after)], half)


def told(root: Path, proto: onnx.ModelProto, gears: Any) -> dict[tuple[str, str], Any]:
    root.mkdir()
    ctx = run(root, proto, emulated=False, gears=gears)
    document = json.loads(ctx.outputs["lint.json"].read_text())
    jsonschema.validate(document, json.loads(schema.read("lint")))
    return {(f["node"], f["deviation"]): f for f in document["findings"]}


def test_gears_are_judged_one_by_one(tmp_path: Path) -> None:
    """H comes out as 4 and as 1, which half_pixel is about and what no rule respells."""
    found = told(tmp_path / "gears", opened(), GEARS)
    unaware = told(tmp_path / "open", opened(), ())

    assert ("size", "resize-shape") in unaware
    assert ("size", "resize-shape") not in found
    length_one = found["size", "resize-length-one"]["reason"]
    assert "(with x [1, 2, 3, 6]; found in 1 of 2 gears)" in length_one
    respelled = found["size", "resize-half-pixel"]
    assert "(with x [1, 2, 8, 6]; found in 1 of 2 gears)" in respelled["reason"]
    assert respelled["skipped"] == "H is 1 in a gear, where the modes differ by definition"
    # W comes out as 12 in both: a window of 3, 2 apart, is padded by 1.
    pads = found["pool", "pool-same-lower"]
    assert pads["reason"] == "pads [0, 1, 0, 0] become [0, 0, 0, 1]"
    assert pads["skipped"] is None


def test_a_resize_that_was_cured_for_all_gears_has_nothing_unknown(tmp_path: Path) -> None:
    mode = {"coordinate_transformation_mode": "pytorch_half_pixel"}
    cured = told(tmp_path / "gears", opened(**mode), [GEARS[0], {"x": [1, 2, 6, 6]}])

    assert [name for node, name in cured if node == "size"] == []
