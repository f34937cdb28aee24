from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from ascendflow.backends import load_backend
from ascendflow.backends.emulator import artifact
from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.resizing import BEHAVIOURS
from ascendflow.errors import InternalError, NotModelledError, StageError
from ascendflow.graph.kernel_lookup import KernelLookup
from ascendflow.reads.names import identity
from tests.emulation import convert, dump, emulate, target
from tests.models import F32, Spec, cosine, model, node, resize_chain, run

if TYPE_CHECKING:
    from pathlib import Path


def test_the_registry_gives_an_emulator_that_owns_up_to_being_one() -> None:
    backend = load_backend("emulator")

    assert isinstance(backend, Emulator)
    assert not backend.capabilities.is_real_device
    assert backend.capabilities.can_dump


def test_an_emulation_has_no_tools_that_compare(tmp_path: Path) -> None:
    with pytest.raises(InternalError):
        Emulator().measured(tmp_path, tmp_path, {})


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            target(cann="9.2.0"),
            "cann '9.2.0' is not modelled: the emulator knows 5.0 to 9.1",
        ),
        (target(cann="eight"), "'eight' is not a version"),
        (target("Ascend310P4"), r"'Ascend310P4' is not known; did you mean 'Ascend310P\d'"),
        (target("Ascend610"), "'Ascend610' is not modelled"),
        (
            target(precision_mode="allow_mix_precision_bf16"),
            "'allow_mix_precision_bf16' is not modelled",
        ),
        (
            target(precision_mode="allow_fp32_to_bf16"),
            "'allow_fp32_to_bf16' is not modelled",
        ),
        (target(precision_mode="cube_hif8"), "'cube_hif8' is not modelled"),
        (
            {**target(), "modify_mixlist": {"black": ["Exp"]}},
            "modify_mixlist is for mixed precision, and the mode is 'force_fp16'",
        ),
        (
            {**target(), "optypelist_for_implmode": ["Gelu"]},
            "optypelist_for_implmode needs op_select_implmode",
        ),
        (target("Ascend310P3", "force_fp32"), "'force_fp32' is not modelled on ascend310p"),
        (target("Ascend310", "force_fp32"), "'force_fp32' is not modelled on ascend310:"),
    ],
)
def test_a_target_that_is_not_modelled_is_refused_by_the_manifest_alone(
    config: dict[str, str], reason: str, tmp_path: Path
) -> None:
    refusal = Emulator().refuse(config)

    assert refusal is not None
    with pytest.raises(NotModelledError, match=reason):
        convert(resize_chain("half_pixel"), tmp_path, **config)


@pytest.mark.parametrize(
    "config",
    [
        target(),
        target(cann="6.0.RC1"),
        target("Ascend910B3", "force_fp32"),
        target("Ascend310", "must_keep_origin_dtype"),
        target("Ascend310", "allow_mix_precision"),
        target("Ascend910B1", "allow_fp32_to_fp16"),
    ],
)
def test_a_modelled_target_is_not_refused(config: dict[str, str]) -> None:
    assert Emulator().refuse(config) is None


def test_a_chain_of_resizes_falls_apart_without_the_rule_and_holds_with_it() -> None:
    """RS01."""
    x = {"x": np.random.default_rng(7).standard_normal((1, 3, 6, 8)).astype(F32)}
    golden = run(resize_chain("half_pixel"), x)["u14"]
    asymmetric = run(resize_chain("asymmetric"), x)["u14"]

    plain = emulate(resize_chain("half_pixel"), x)["u14"]
    cured = emulate(resize_chain("pytorch_half_pixel"), x)["u14"]

    # 0.565 is what asymmetric sampling gives in onnxruntime for this very input
    assert cosine(golden, asymmetric) == pytest.approx(0.565, abs=5e-4)
    assert cosine(golden, plain) == pytest.approx(0.565, abs=5e-4)
    assert cosine(golden, cured) > 0.999999


def test_the_first_resize_is_where_the_dump_departs() -> None:
    """RS01."""
    x = {"x": np.random.default_rng(7).standard_normal((1, 3, 6, 8)).astype(F32)}
    golden = dump(resize_chain("pytorch_half_pixel"), x)

    wrong = dump(resize_chain("half_pixel"), x)

    assert list(wrong) == [f"u{k}" for k in range(15)]
    assert cosine(golden["u0"], wrong["u0"]) < 0.9


def test_nearest_for_linear_changes_values_beyond_a_gate_of_0_999() -> None:
    """RS10."""
    attributes = {"coordinate_transformation_mode": "pytorch_half_pixel"}
    up = {"up": np.array([1, 1, 2, 2], F32)}
    linear = node("Resize", ["x", "", "up"], ["y"], mode="linear", **attributes)
    nearest = node("Resize", ["x", "", "up"], ["y"], mode="nearest", **attributes)
    x = {"x": np.random.default_rng(7).standard_normal((1, 1, 4, 4)).astype(F32)}

    outputs = [
        emulate(model([each], [("x", [1, 1, 4, 4])], [("y", [1, 1, 8, 8])], up), x)["y"]
        for each in (linear, nearest)
    ]

    assert cosine(*outputs) < 0.95


def test_the_document_counts_what_is_modelled_and_what_is_assumed(tmp_path: Path) -> None:
    document = convert(resize_chain("half_pixel"), tmp_path)

    assert document["backend"] == "emulator"
    assert document["is_real_device"] is False
    assert document["overflow"] == "saturate"
    assert document["modelled_nodes"] == 15
    assert document["assumed"] == {}
    assert document["target_ops"]["u0"] == "ResizeBilinearV2"
    assert document["target_ops"]["u1"] == "AvgPoolV2"
    by_name = {entry["deviation"]: entry for entry in document["applied"]}
    assert by_name["resize-half-pixel"]["nodes"] == [f"u{k}" for k in range(0, 15, 2)]
    assert by_name["precision-force_fp16"]["nodes"] == []
    assert by_name["overflow-saturate"]["confidence"] == "high"


def test_a_deviation_of_rare_nodes_does_not_make_the_others_modelled(
    tmp_path: Path,
) -> None:
    """Only int32 is divided by a kernel that was read; Softmax is ONNX's from 13 on."""
    i32 = TensorProto.INT32
    nodes = [
        node("Softmax", ["x"], ["s"], axis=1),
        node("Div", ["s", "x"], ["y"]),
        node("Div", ["n", "n"], ["m"], name="whole"),
        node("GlobalAveragePool", ["y"], ["z"]),
    ]
    inputs: list[Spec] = [("x", [1, 2, 4, 4]), ("n", [3], i32)]
    outputs: list[Spec] = [("z", [1, 2, 1, 1]), ("m", [3], i32)]

    document = convert(model(nodes, inputs, outputs), tmp_path)

    assert document["modelled_nodes"] == 2
    assert document["assumed"] == {"Div": 1, "Softmax": 1}


def test_all_samples_run_through_one_loaded_model(tmp_path: Path) -> None:
    convert(model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])]), tmp_path)
    feeds = ({"x": np.array([k, -k], F32)} for k in range(3))

    outputs = list(Emulator().infer(tmp_path / "model", feeds, threads=1))

    assert [each["y"].tolist() for each in outputs] == [[0, 0], [-1, 1], [-2, 2]]


def test_a_run_leaves_the_artifact_as_it_was_to_the_last_link(tmp_path: Path) -> None:
    """Whoever links a file gives it another ctime, and it is hashed anew."""
    w = np.eye(600, dtype=F32)
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    proto = model(nodes, [("x", [600])], [("y", [600])], {"w": w})
    convert(proto, tmp_path)
    folder, feeds = tmp_path / "model", {"x": np.ones(600, F32)}
    before = {path.name: identity(path.stat()) for path in folder.iterdir()}
    list(Emulator().infer(folder, [feeds], threads=1))
    list(Emulator().dump(folder, feeds, threads=1))

    assert artifact.WEIGHTS in before
    assert {path.name: identity(path.stat()) for path in folder.iterdir()} == before


def test_what_onnxruntime_cannot_run_is_refused_not_run_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody foresaw it: convert finds such a node, unless it is made blind."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Max", ["x", "x"], ["y"], name="largest")],
        "g",
        [value("x", TensorProto.INT16, [2])],
        [value("y", TensorProto.INT16, [2])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    with pytest.raises(NotModelledError, match="largest"):
        convert(proto, tmp_path)
    monkeypatch.setattr(KernelLookup, "has_kernel", lambda *_: True)
    convert(proto, tmp_path)
    feeds = [{"x": np.array([1, 2], np.int16)}]

    with pytest.raises(NotModelledError, match="largest"):
        list(Emulator().infer(tmp_path / "model", feeds, threads=1))


def test_what_is_known_is_compiled_once(tmp_path: Path) -> None:
    convert(resize_chain("pytorch_half_pixel"), tmp_path, cann="9.1")

    assert Emulator().behaviours(tmp_path / "model") == {"": tmp_path / "model"}
    assert not (tmp_path / "model" / artifact.ALTERNATIVE).exists()


def test_both_compiled_behaviours_are_whole_artifacts_and_are_checked(
    tmp_path: Path,
) -> None:
    convert(resize_chain("half_pixel"), tmp_path, cann="9.1")
    other = tmp_path / "model" / artifact.ALTERNATIVE

    names = list(Emulator().behaviours(tmp_path / "model"))
    content = bytearray((other / artifact.FILE).read_bytes())
    content[-1] ^= 1
    (other / artifact.FILE).write_bytes(content)

    assert names == list(BEHAVIOURS)
    with pytest.raises(StageError, match=r"model\.emu is damaged"):
        Emulator().behaviours(tmp_path / "model")


def test_the_chain_of_a_cann_that_decides_unseen_is_both_right_and_wrong(
    tmp_path: Path,
) -> None:
    """RS01."""
    x = {"x": np.random.default_rng(7).standard_normal((1, 3, 6, 8)).astype(F32)}
    golden = run(resize_chain("half_pixel"), x)["u14"]

    convert(resize_chain("half_pixel"), tmp_path, cann="9.1")
    found = [
        next(iter(Emulator().infer(each, [x], threads=1)))["u14"]
        for each in Emulator().behaviours(tmp_path / "model").values()
    ]

    assert cosine(golden, found[0]) > 0.999999
    assert cosine(golden, found[1]) == pytest.approx(0.565, abs=5e-4)
