"""Inputs, outputs and gears of an OM without MODEL_INOUT_INFO, by GE's own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import om_files
from tests.om_files import MODEL_DEF, desc, graph, model_def, op

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.documents.inspection import Inspection


def made(ops: list[Any], **values: Any) -> bytes:
    inner = graph("sub", [op("hidden", "Data", output_desc=[desc(1, [7])])])
    return om_files.om([(MODEL_DEF, model_def([graph("g", ops), inner], values))])


def test_inputs_of_the_main_graph_are_in_order_of_their_index(
    inspect: Callable[[bytes], Inspection],
) -> None:
    ops = [
        op("b", "Data", {"index": 1}, input_desc=[desc(7, [-1, 4], "ND", size=64)]),
        op("a", "AippData", {"index": 0}, output_desc=[desc(4, [1, 8, 8, 3], "NHWC")]),
        op("c", "Data", {"index": 2}, input_desc=[desc(27, [])]),
    ]

    found = inspect(made(ops))["inputs"]

    assert [each["name"] for each in found] == ["a", "b", "c"]
    assert [each["dtype"] for each in found] == ["uint8", "int32", "bfloat16"]
    assert [each["shape"] for each in found] == [[1, 8, 8, 3], [-1, 4], []]
    assert [each["format"] for each in found] == ["NHWC", "ND", "ND"]
    assert [each["size"] for each in found] == [1 * 8 * 8 * 3, 64, 2]


def test_with_gears_and_aipp_the_shapes_are_the_users(
    inspect: Callable[[bytes], Inspection],
) -> None:
    values = {
        "index": 0,
        "_mbatch_origin_input_dims": [-1, 8, 8, 3],
        "input_dims": [1, 3, 8, 8],
    }
    case = {
        "mbatch_dynamic_type": 1,
        "_batch_num": 2**62,
        "_pred_value_0": [1],
        "_pred_value_1": [4],
    }
    ops = [
        op("a", "Data", values, input_desc=[desc(4, [4, 8, 8, 3])]),
        op("case", "Case", case),
    ]

    found = inspect(made(ops))

    assert found["inputs"][0]["shape"] == [-1, 8, 8, 3]
    assert found["inputs"][0]["aipp_shape"] == [1, 3, 8, 8]
    assert found["om"] is not None
    assert found["om"]["gears"] == {"kind": "batch", "values": [[1], [4]], "order": []}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param(None, ["output_0_conv_0", "output_1_add_2"], id="not-given"),
        pytest.param(["x:0:y", "z"], ["x:0:y", "z:2"], id="given"),
        pytest.param(["x"], ["output_0_conv_0", "output_1_add_2"], id="too-few"),
    ],
)
def test_outputs_have_the_names_that_atc_gave_them(
    inspect: Callable[[bytes], Inspection], given: list[str] | None, names: list[str]
) -> None:
    out = op(
        "out",
        "NetOutput",
        src_name=["conv", "add"],
        src_index=[0, 2],
        input_desc=[desc(1, [1]), desc(2, [2])],
    )
    values = {} if given is None else {"attr_model_out_nodes_name": given}

    assert [each["name"] for each in inspect(made([out], **values))["outputs"]] == names


def test_what_a_graph_does_not_say_is_unknown(
    inspect: Callable[[bytes], Inspection],
) -> None:
    ops = [op("a", "Data"), op("out", "NetOutput", input_desc=[desc(63, [1])])]

    found = inspect(made(ops))

    assert found["inputs"][0]["shape"] is None
    assert found["inputs"][0]["dtype"] == "undefined"
    assert found["outputs"][0]["name"] == "output_0"
    assert found["outputs"][0]["dtype"] == "unknown (63)"
    assert found["om"] is not None
    assert found["om"]["gears"] is None
