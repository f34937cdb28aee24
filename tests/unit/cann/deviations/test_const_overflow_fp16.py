"""Constants beyond fp16. Rounding is the storage's; here, what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.graph.load import load_model
from tests.emulation import FP32, IEEE, SATURATING, Linted, cured, emulate, linted, target
from tests.halves import half
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

NAME = "const-overflow-fp16"
OUT = Linted("y", NAME, "silent")
X = np.array([[0, 1e-5, 0.5, 3]], F32)


def scaled(factor: object, op_type: str = "Mul") -> onnx.ModelProto:
    constants = {"k": np.array(factor, F32)}
    nodes = [node(op_type, ["x", "k"], ["y"])]
    return model(nodes, [("x", [1, 4])], [("y", [1, 4])], constants, opset=13)


@pytest.mark.parametrize(
    ("soc_version", "cann", "constant"),
    [
        pytest.param(SATURATING, "8.1", 65504, id="saturates"),
        pytest.param("Ascend310", "6.0.RC1", 65504, id="310-saturates"),
        pytest.param(IEEE, "8.1", np.inf, id="infinite"),
        pytest.param(IEEE, "8.5.0", 65504, id="clipped-by-is_weight_clip"),
        pytest.param("Ascend910_9392", "9.1", 65504, id="910_93-clipped"),
    ],
)
def test_the_constant_is_what_the_release_and_the_soc_make_of_it(
    soc_version: str, cann: str, constant: float
) -> None:
    proto = scaled(1e6)

    got = emulate(proto, {"x": X}, soc_version=soc_version, cann=cann)["y"]

    with np.errstate(invalid="ignore"):
        wanted = half(X) * F32(constant)
    if soc_version in {SATURATING, "Ascend310"}:
        wanted = np.clip(wanted, -65504, 65504)
    np.testing.assert_array_equal(got, half(wanted))
    # 1e-5 * 1e6 is 10
    assert not np.abs(got - run(proto, {"x": X})["y"])[0, 1] < 9


def test_an_fp16_constant_is_not_cast_so_not_clipped() -> None:
    proto = scaled(1.0)
    proto.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(np.array(-np.inf, np.float16), "k")
    )
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    proto.graph.node[0].op_type = "Add"

    got = emulate(proto, {"x": X.astype(np.float16)}, soc_version=IEEE, cann="8.5.0")["y"]

    assert (got == -np.inf).all()


def test_a_shared_constant_is_clipped_for_each_reader() -> None:
    nodes = [node("Mul", ["x", "k"], ["y"]), node("Sub", ["x", "k"], ["z"])]
    shapes = [("y", [1, 4]), ("z", [1, 4])]
    proto = model(nodes, [("x", [1, 4])], shapes, {"k": np.array(1e6, F32)})

    got = emulate(proto, {"x": X}, soc_version=IEEE, cann="8.5.0")

    np.testing.assert_array_equal(got["y"], half(half(X) * F32(65504)))
    np.testing.assert_array_equal(got["z"], half(half(X) - F32(65504)))


@pytest.mark.parametrize("op_type", ["Mul", "Add", "Sub", "Div"])
@pytest.mark.parametrize("number", [1e6, -1e9, 65520, 3.4e38, [1, 2, 3, 1e6]])
def test_lint_names_the_node(op_type: str, number: object) -> None:
    assert linted(scaled(number, op_type)) == [OUT]


@pytest.mark.parametrize(
    ("soc_version", "cann"),
    [
        pytest.param(IEEE, "8.1", id="infinite"),
        pytest.param("Ascend910_9392", "8.1", id="910_93-infinite"),
        pytest.param(IEEE, "8.5.0", id="clipped"),
        pytest.param(SATURATING, "8.1", id="saturates"),
    ],
)
def test_another_number_is_silently_wrong_and_a_rounded_one_less_precise(
    soc_version: str, cann: str
) -> None:
    """fp16 rounds what is below 65520 to 65504 anyway, as IEEE 754 has it."""
    config = {"soc_version": soc_version, "cann": cann}
    with np.errstate(over="ignore"):
        assert np.float16(65519.99) == 65504
        assert np.isinf(np.float16(65520))

    assert linted(scaled(65519.99), **config) == [Linted("y", NAME, "precision")]
    assert linted(scaled(65520), **config) == [OUT]
    assert linted(scaled(1e6), **config) == [OUT]


@pytest.mark.parametrize(
    ("proto", "config"),
    [
        pytest.param(scaled(65504), {}, id="largest"),
        pytest.param(scaled(-65504), {}, id="smallest"),
        pytest.param(scaled(np.nan), {}, id="nan"),
        pytest.param(scaled(1e6, "Max"), {}, id="a-bound"),
        pytest.param(scaled(np.inf, "Add"), {"soc_version": IEEE}, id="inf-stays-inf"),
        pytest.param(
            scaled(1e6),
            FP32,
            id="fp32",
        ),
    ],
)
def test_lint_is_silent_about_what_fp16_holds(
    proto: onnx.ModelProto, config: dict[str, str]
) -> None:
    assert linted(proto, **config) == []


def test_infinity_changes_where_constants_are_clipped() -> None:
    proto = scaled(-np.inf, "Add")

    assert linted(proto, soc_version=IEEE, cann="8.5.0") == [OUT]
    assert linted(proto, soc_version=SATURATING) == [OUT]


def test_an_infinity_that_stays_hides_no_number_that_becomes_one() -> None:
    proto = scaled([0, 1, 1e6, -np.inf], "Add")

    assert linted(proto, soc_version=IEEE) == [Linted("y", NAME, "silent")]


def test_weights_and_batch_norms_are_constants_too() -> None:
    one = np.ones(2, F32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        node("BatchNormalization", ["c", "gamma", "beta", "mean", "var"], ["y"]),
    ]
    constants = {
        "w": np.full((2, 1, 1, 1), 7e4, F32),
        "gamma": one,
        "beta": one,
        "mean": one * F32(1e5),
        "var": one,
    }
    proto = model(nodes, [("x", [1, 1, 2, 2])], [("y", [1, 2, 2, 2])], constants)

    named = [found.node for found in linted(proto) if found.deviation == NAME]

    assert named == ["c", "y"]


def test_the_rule_makes_it_finite() -> None:
    proto = scaled(1e9, "Add")
    clamped = cured(proto, "clamp-constants")

    got = emulate(clamped, {"x": X}, soc_version=IEEE)["y"]

    assert np.isinf(emulate(proto, {"x": X}, soc_version=IEEE)["y"]).all()
    assert (got == 65504).all()
    assert linted(clamped, soc_version=IEEE) == []


def external(folder: Path, size: int) -> Path:
    """Write a model whose Mul has a constant of `size` bytes beside it, 1e9 in it."""
    array = np.ones(size // 4, F32)
    array[-1] = 1e9
    shape = [array.size]
    nodes = [node("Mul", ["x", "k"], ["y"])]
    proto = model(nodes, [("x", shape)], [("y", shape)], {"k": array})
    onnx.save(
        proto,
        folder / "model.onnx",
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=0,
    )
    return folder / "model.onnx"


@pytest.mark.parametrize(
    ("size", "all_weights", "named"),
    [
        pytest.param(4 * 2**20, False, True, id="4-MiB-is-read"),
        pytest.param(4 * 2**20 + 4, False, False, id="more-is-not"),
        pytest.param(4 * 2**20 + 4, True, True, id="more-is-when-asked"),
    ],
)
def test_large_external_constants_are_read_only_when_asked(
    tmp_path: Path, size: int, all_weights: bool, named: bool
) -> None:
    loaded = load_model(external(tmp_path, size))

    found = list(lint(loaded, Target.of(target()), all_weights=all_weights))

    assert [each.deviation.name for each in found] == [NAME] * named
