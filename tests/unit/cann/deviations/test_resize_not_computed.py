"""`resize-cubic`, `resize-shape` and `resize-nearest-shape`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import model, node, resize, run
from tests.resize_kernels import picture

if TYPE_CHECKING:
    from pathlib import Path

MATMUL, GATHER = "resize-to-matmul", "resize-nearest-gather"


@pytest.mark.parametrize(
    ("cann", "consequence"),
    [("6.0", "rejected"), ("8.4", "rejected"), ("8.5", "unknown"), ("9.1", "unknown")],
)
@pytest.mark.parametrize(
    "kind",
    [{}, {"cubic_coeff_a": -0.5}, {"cubic_coeff_a": -0.5, "exclude_outside": 1}],
    ids=str,
)
def test_cubic_is_refused_or_unknown_and_the_rule_cures_it(
    kind: dict[str, Any], cann: str, consequence: str, tmp_path: Path
) -> None:
    """RS07."""
    x, config = picture(6, 6, channels=1), {**FP32, "cann": cann}
    proto = resize(x.shape, sizes=[1, 1, 9, 9], mode="cubic", opset=15, **kind)

    assert linted(proto, **config) == [("resize", "resize-cubic", consequence)]
    error = StageError if consequence == "rejected" else NotModelledError
    with pytest.raises(error, match=r"'resize' \(Resize\): .* mode 'cubic'"):
        convert(proto, tmp_path, **config)
    healed = emulate(cured(proto, MATMUL), {"x": x}, **config)["y"]
    # onnxruntime's weights are fp32
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=6e-6)


def test_word_that_is_no_mode_is_refused_as_cubic_is(tmp_path: Path) -> None:
    proto = resize([1, 1, 4, 4], sizes=[1, 1, 8, 8], mode="quartic")

    assert linted(proto, **FP32) == [("resize", "resize-cubic", "rejected")]
    with pytest.raises(StageError, match="mode 'quartic'"):
        convert(proto, tmp_path, **FP32)


OF_AXES: Any = {"sizes": [8, 9], "axes": [2, 3], "opset": 18}


@pytest.mark.parametrize("cann", ["8.1", "9.1"])
@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        pytest.param(resize([2, 4, 6], sizes=[2, 8, 9]), "rank 3", id="nearest-3"),
        pytest.param(
            resize([2, 4, 6], sizes=[2, 8, 9], mode="linear"), "rank 3", id="linear-3"
        ),
        pytest.param(
            resize([1, 2, 3, 4, 6], sizes=[1, 2, 6, 7, 9]), "rank 5", id="nearest-5"
        ),
        pytest.param(
            resize([1, 2, 3, 4, 6], sizes=[1, 2, 6, 7, 9], mode="linear"),
            "rank 5",
            id="linear-5",
        ),
        pytest.param(resize([1, 2, 4, 6], sizes=[1, 3, 8, 9]), "N or C", id="channels"),
        pytest.param(resize([1, 2, 4, 6], **OF_AXES), "`axes`", id="nearest-axes"),
        pytest.param(
            resize([1, 2, 4, 6], mode="linear", **OF_AXES), "`axes`", id="linear-axes"
        ),
    ],
)
def test_other_shapes_are_unknown_and_the_rules_cure_them(
    proto: onnx.ModelProto, reason: str, cann: str, tmp_path: Path
) -> None:
    config = {**FP32, "cann": cann}
    shape = [each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    ((_, name, consequence),) = linted(proto, **config)

    assert name in {"resize-shape", "resize-nearest-shape"}
    assert consequence == "unknown"
    with pytest.raises(NotModelledError, match=f"'resize' .*{reason}"):
        convert(proto, tmp_path, **config)
    rule = MATMUL if name == "resize-shape" else GATHER
    healed = emulate(cured(proto, rule), {"x": x}, **config)["y"]
    np.testing.assert_allclose(healed, run(proto, {"x": x})["y"], rtol=0, atol=3e-6)


@pytest.mark.parametrize(
    "proto",
    [
        pytest.param(
            resize(
                [1, 1, 6, 6],
                sizes=[1, 1, 9, 9],
                mode="linear",
                coordinate_transformation_mode="asymmetric",
            ),
            id="linear-instead-of-cubic",
        ),
        pytest.param(
            resize(
                [1, 2, 4, 6],
                sizes=[1, 2, 8, 9],
                mode="linear",
                coordinate_transformation_mode="pytorch_half_pixel",
            ),
            id="linear-rank-4",
        ),
        pytest.param(
            resize(
                [1, 2, 4, 6],
                sizes=[1, 2, 8, 12],
                coordinate_transformation_mode="asymmetric",
                nearest_mode="floor",
            ),
            id="nearest-rank-4",
        ),
    ],
)
def test_lint_is_silent_on_the_twins_that_are_computed(proto: onnx.ModelProto) -> None:
    assert linted(proto, **FP32) == []


def test_sizes_that_are_computed_are_not_modelled(tmp_path: Path) -> None:
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], name="up", mode="linear")]
    inputs: list[Any] = [("x", [1, 1, 4, 4]), ("sizes", [4], onnx.TensorProto.INT64)]
    proto = model(nodes, inputs, [("y", ["a", "b", "c", "d"])])

    with pytest.raises(NotModelledError, match=r"'up' .*not fixed"):
        convert(proto, tmp_path)


def test_a_dynamic_input_is_not_modelled(tmp_path: Path) -> None:
    proto = resize(["N", 2, 4, "W"], scales=[1, 1, 2, 2])

    with pytest.raises(NotModelledError, match=r"shape \[N,2,4,W\] is not fixed"):
        convert(proto, tmp_path)


def test_every_refused_node_is_named(tmp_path: Path) -> None:
    sizes = {"s": np.array([1, 1, 9, 9], np.int64)}
    nodes = [
        node("Resize", ["x", "", "", "s"], [name], mode="cubic") for name in ("a", "b")
    ]
    outputs: list[Any] = [("a", [1, 1, 9, 9]), ("b", [1, 1, 9, 9])]
    proto = model(nodes, [("x", [1, 1, 6, 6])], outputs, sizes)

    with pytest.raises(StageError) as caught:
        convert(proto, tmp_path)

    assert "'a'" in str(caught.value)
    assert "'b'" in str(caught.value)


def test_a_mode_that_does_not_exist_is_refused_and_not_a_crash(tmp_path: Path) -> None:
    proto = resize([1, 1, 4, 4], sizes=[1, 1, 9, 9], mode="cubit", opset=15)

    assert linted(proto) == [("resize", "resize-cubic", "rejected")]
    with pytest.raises(StageError, match="refuses mode 'cubit'"):
        convert(proto, tmp_path)
