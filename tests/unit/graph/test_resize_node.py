from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from ascendflow.graph.resize_axes import BEFORE_11
from ascendflow.graph.resize_node import OnnxResize, read_resize
from tests.models import F32, model, node, resize


def read(proto: onnx.ModelProto) -> OnnxResize | str:
    inferred = ir.from_proto(onnx.shape_inference.infer_shapes(proto, data_prop=True))
    found = next(n for n in inferred.graph if n.op_type in {"Resize", "Upsample"})
    found.version = proto.opset_import[0].version
    return read_resize(found)


def lengths(found: OnnxResize | str) -> list[int]:
    assert isinstance(found, OnnxResize)
    return [axis.length_out for axis in found.axes]


def test_scales_are_cut_to_whole_lengths_and_kept_as_they_are() -> None:
    found = read(resize([1, 2, 5, 7], scales=[1, 1, 1.5, 0.45]))

    assert lengths(found) == [1, 2, 7, 3]
    assert isinstance(found, OnnxResize)
    assert [axis.scale for axis in found.axes] == [1, 1, 1.5, float(F32(0.45))]


def test_axes_name_what_sizes_are_of_from_either_end() -> None:
    found = read(resize([1, 2, 5, 7], sizes=[3, 4], axes=[-1, 2], opset=18))

    assert lengths(found) == [1, 2, 4, 3]


@pytest.mark.parametrize(
    ("policy", "expected"), [("not_larger", [1, 3, 6, 9]), ("not_smaller", [1, 3, 8, 12])]
)
def test_a_policy_gives_other_lengths_than_were_asked_for(
    policy: str, expected: list[int]
) -> None:
    kind: dict[str, Any] = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
    found = read(resize([1, 3, 4, 6], sizes=[8, 9], opset=18, **kind))

    assert lengths(found) == expected
    assert isinstance(found, OnnxResize)
    assert found.asked == (1, 3, 8, 9)
    assert found.policy_changes_lengths


def test_a_scalar_has_no_axis_to_resize() -> None:
    found = read(resize([], sizes=[]))

    assert found == "its input is a scalar, which has no axis"


def test_before_opset_11_there_is_no_mode_to_read() -> None:
    found = read(resize([1, 2, 4, 6], scales=[1, 1, 2, 2], opset=10))

    assert isinstance(found, OnnxResize)
    assert (found.mode, found.nearest_mode) == ("asymmetric", BEFORE_11)
    assert not found.has_mode


@pytest.mark.parametrize("opset", [8, 9])
def test_upsample_has_scales_in_an_attribute_or_an_input(opset: int) -> None:
    scales: dict[str, Any] = {"scales": [1.0, 1.0, 2.0, 3.0]} if opset == 8 else {}
    constants = {} if scales else {"s": np.array([1, 1, 2, 3], F32)}
    nodes = [node("Upsample", ["x", *constants], ["y"], mode="linear", **scales)]
    proto = model(nodes, [("x", [1, 2, 4, 6])], [("y", list("nchw"))], constants, opset)

    found = read(proto)

    assert lengths(found) == [1, 2, 8, 18]
    assert isinstance(found, OnnxResize)
    assert found.is_upsample
    assert found.mode == "asymmetric"


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (resize([1, 2, "H", 6], scales=[1, 1, 2, 2]), "[1,2,H,6] is not fixed"),
        (resize([1, 2, 4, 6], scales=[1, 1, 0.1, 2]), "an empty axis"),
        (resize([1, 2, 4, 6], sizes=[1, 2, 1 << 25, 6]), "too long"),
        (resize([1, 2, 4, 6], scales=[1, 1, np.inf, 2]), "its scales are"),
        (
            resize(
                [1, 2, 4, 6],
                sizes=[1, 2, 4, 4],
                coordinate_transformation_mode="tf_crop_and_resize",
            ),
            "roi is not a constant",
        ),
    ],
)
def test_what_cannot_be_known_says_why(proto: onnx.ModelProto, reason: str) -> None:
    found = read(proto)

    assert isinstance(found, str)
    assert reason in found


def test_an_open_axis_may_stay_as_it_is_but_not_be_resized() -> None:
    found = read(resize(["N", 2, 5, 7], scales=[1, 1, 2, 2]))

    assert isinstance(found, OnnxResize)
    assert found.open_axes == frozenset({0})
    assert not found.axes[0].changes
    assert lengths(found)[2:] == [10, 14]
    by_scale = read(resize(["N", 2, 5, 7], scales=[2, 1, 2, 2]))
    assert by_scale == "its input's shape [N,2,5,7] is not fixed"
    assert read(resize(["N", 2, 5, 7], sizes=[1, 2, 9, 9])) == by_scale


def test_a_region_of_an_open_axis_is_not_known() -> None:
    kind: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    proto = resize(["N", 2, 5, 7], scales=[1, 1, 2, 2], **kind)
    regions = ([0, 0, 0, 0, 1, 1, 1, 1], [0.5, 0, 0, 0, 1, 1, 1, 1])
    found = []
    for region in regions:
        roi = onnx.numpy_helper.from_array(np.array(region, F32), "roi")
        proto.graph.initializer[0].CopyFrom(roi)
        found.append(read(proto))

    assert isinstance(found[0], OnnxResize)
    assert found[1] == "its input's shape [N,2,5,7] is not fixed"
