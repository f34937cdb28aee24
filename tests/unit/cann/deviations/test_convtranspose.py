"""The three deviations of ConvTranspose; conv_transpose_plugin.cc.

The pads that canndev's two formulas lead to (nn_calculation_ops.cc,
SetConv2dbpPadsByPadding and ProcessOnnxAttr) are worked out by hand in the cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, cured, emulate, linted
from tests.models import model, node, run
from tests.windows import numbers

if TYPE_CHECKING:
    import onnx

RULE = "convtranspose-attributes"


def transposed(*kinds: dict[str, Any], rank: int = 2, kernel: int = 3) -> onnx.ModelProto:
    """Make ConvTransposes t0, t1, ... of x: two channels, stride 2."""
    nodes = []
    for number, kind in enumerate(kinds):
        attributes = {"kernel_shape": [kernel] * rank, "strides": [2] * rank} | kind
        given = {k: v for k, v in attributes.items() if v is not None}
        nodes.append(node("ConvTranspose", ["x", "w"], [f"t{number}"], **given))
    dims = [f"d{axis}" for axis in range(rank + 2)]
    return model(
        nodes,
        [("x", [1, 2, *range(4, 4 + rank)])],
        [(f"t{number}", dims) for number in range(len(kinds))],
        {"w": numbers(2, 2, *[kernel] * rank)},
        opset=13,
    )


BARE: dict[str, Any] = {"kernel_shape": None}
SHAPED: dict[str, Any] = {"output_shape": [8, 10]}


@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_every_node_without_kernel_shape_is_refused(version: str) -> None:
    proto = transposed(BARE, {}, BARE)

    assert linted(proto, cann=version) == [
        ("t0", "convtranspose-kernel-shape", "rejected"),
        ("t2", "convtranspose-kernel-shape", "rejected"),
    ]
    with pytest.raises(StageError, match=r"'t0' .*has no kernel_shape\n.*'t2'"):
        emulate(proto, {}, cann=version)


@pytest.mark.parametrize(
    ("kind", "version", "refused"),
    [
        ({"output_padding": [1], "pads": [1, 1]}, "6.0", True),
        ({"output_padding": [1], "pads": [1, 1]}, "8.1", True),
        ({"output_padding": [1], "pads": [1, 1]}, "9.1", False),
        ({"output_padding": [0], "pads": [1, 1]}, "6.0", True),
        ({"pads": [1, 1]}, "6.0", False),
    ],
)
def test_a_short_list_of_a_1d_node_is_refused(
    kind: dict[str, Any], version: str, *, refused: bool
) -> None:
    found = linted(transposed(kind, rank=1), cann=version)

    assert found == ([("t0", "convtranspose-kernel-shape", "rejected")] * refused)


@pytest.mark.parametrize(
    ("kind", "rank", "reason"),
    [
        # both formulas crop 1; ONNX and one in front, the other behind
        pytest.param(SHAPED, 2, r"in ONNX pads \[1, 1, 0, 0\]", id="odd"),
        # ONNX crops 0; one formula crops 1 whatever output_shape says
        pytest.param({"output_shape": [9, 11]}, 2, r"pads \[0, 0, 0, 0\]", id="longer"),
        pytest.param(
            {"output_shape": [10, 12]}, 2, r"output_padding \[1, 1\]", id="longest"
        ),
        pytest.param({"auto_pad": "SAME_UPPER"}, 2, "how auto_pad SAME_UPPER", id="same"),
        pytest.param({"auto_pad": "VALID"}, 2, "how auto_pad VALID", id="valid"),
        pytest.param({"output_shape": [8, 10, 12]}, 3, "not known", id="3-d"),
    ],
)
def test_what_two_formulas_crop_differently_is_not_modelled(
    kind: dict[str, Any], rank: int, reason: str
) -> None:
    proto = transposed(kind, rank=rank)

    assert linted(proto) == [("t0", "convtranspose-output-shape", "unknown")]
    with pytest.raises(NotModelledError, match=f"'t0' .*{reason}"):
        emulate(proto, {}, soc_version="Ascend910B1")


def test_lint_is_silent_where_both_formulas_crop_as_onnx_does() -> None:
    # kernel 4, stride 2: 2 * 3 + 4 - 8 = 2 = 4 - 2, one at each end
    assert linted(transposed(SHAPED, kernel=4)) == []
    x = numbers(1, 2, 4, 5)
    there = run(transposed(SHAPED, kernel=4), {"x": x})["t0"]
    spelled = run(transposed({"pads": [1, 1, 1, 1]}, kernel=4), {"x": x})["t0"]
    np.testing.assert_array_equal(there, spelled)


@pytest.mark.parametrize(
    "kind",
    [
        # 2 * 3 + 4 + 1 - 9 = 2, as without output_padding; who adds it is not known
        pytest.param({"output_shape": [9, 11], "output_padding": [1, 1]}, id="padding"),
        pytest.param({"output_shape": [8, 11], "output_padding": [0, 1]}, id="one-axis"),
        pytest.param(SHAPED | {"auto_pad": "VALID"}, id="valid"),
    ],
)
def test_what_is_added_or_said_besides_is_not_modelled(kind: dict[str, Any]) -> None:
    proto = transposed(kind, kernel=4)

    assert linted(proto) == [("t0", "convtranspose-output-shape", "unknown")]


def test_flags_are_read_of_2d_nodes_of_onnx_only() -> None:
    """Behind the node with output_shape: one of another domain, and one of one axis."""
    proto = transposed(SHAPED, {"pads": [1] * 4}, kernel=4)
    proto.graph.node[1].domain = "com.acme"
    proto.opset_import.add(domain="com.acme", version=1)
    line = transposed({}, rank=1, kernel=4).graph
    line.node[0].input[:], line.node[0].output[:] = ["z", "v"], ["t2"]
    line.input[0].name, line.output[0].name, line.initializer[0].name = "z", "t2", "v"
    for field in ("node", "input", "output", "initializer"):
        getattr(proto.graph, field).extend(getattr(line, field))

    assert [found for found in linted(proto) if "leaking" in found.deviation] == []
    proto.graph.node[1].domain = ""
    assert ("t1", "convtranspose-leaking-flags", "unknown") in linted(proto)


@pytest.mark.parametrize(
    ("kinds", "named"),
    [
        pytest.param([SHAPED, {}, {"pads": [1] * 4}], ["t1", "t2"], id="all-behind-it"),
        pytest.param([{}, SHAPED, {}], ["t2"], id="none-before-it"),
        pytest.param([{"auto_pad": "NOTSET"}, SHAPED, {}], [], id="auto-pad-before-it"),
        pytest.param([SHAPED, {}, {"auto_pad": "NOTSET"}, {}], ["t1"], id="auto-pad-later"),
        pytest.param([{}, {}], [], id="no-output-shape"),
    ],
)
def test_one_output_shape_marks_the_nodes_behind_it(
    kinds: list[dict[str, Any]], named: list[str]
) -> None:
    proto = transposed(*kinds, kernel=4)

    leaks = [found for found in linted(proto) if "leaking" in found.deviation]

    assert leaks == [(name, "convtranspose-leaking-flags", "unknown") for name in named]


def test_node_behind_an_output_shape_is_not_modelled() -> None:
    proto = transposed(SHAPED, {"pads": [1] * 4}, kernel=4)

    with pytest.raises(NotModelledError, match="'t1' "):
        emulate(proto, {}, **FP32)


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param([BARE], id="kernel-shape"),
        pytest.param([SHAPED], id="output-shape"),
        pytest.param([SHAPED | {"auto_pad": "SAME_UPPER"}], id="output-shape-upper"),
        pytest.param([{"output_shape": [10, 12]}], id="output-padding"),
        pytest.param([{"auto_pad": "SAME_LOWER"}], id="same-lower"),
        pytest.param([{"auto_pad": "VALID"}], id="valid"),
        pytest.param([SHAPED, {"pads": [1] * 4}], id="leak"),
    ],
)
@pytest.mark.parametrize("version", ["6.0", "8.1", "9.1"])
def test_explicit_attributes_cure_it(kinds: list[dict[str, Any]], version: str) -> None:
    proto = transposed(*kinds)
    x = numbers(1, 2, 4, 5)
    edited = cured(proto, RULE)

    outputs = emulate(edited, {"x": x}, **FP32, cann=version)

    for name, expected in run(proto, {"x": x}).items():
        np.testing.assert_array_equal(outputs[name], expected)
    assert linted(edited, **FP32, cann=version) == []


@pytest.mark.parametrize("extra", [0, 1])
def test_cropping_less_cures_output_padding_of_a_1d_node(extra: int) -> None:
    proto = transposed({"output_padding": [extra], "pads": [1, 1]}, rank=1)
    x = numbers(1, 2, 4)

    y = emulate(cured(proto, RULE), {"x": x}, **FP32, cann="6.0")["t0"]

    np.testing.assert_array_equal(y, run(proto, {"x": x})["t0"])
