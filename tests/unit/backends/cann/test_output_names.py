from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.output_names import matched
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from ascendflow.backends.cann.signature import SignatureOutput


def outputs(*said: tuple[str, int, str]) -> list[SignatureOutput]:
    return [
        {"name": name, "dtype": "float32", "node": node, "port": port}
        for node, port, name in said
    ]


@pytest.mark.parametrize(
    ("om", "places"),
    [
        (["Conv_80:0:a", "Split_3:1:b"], [0, 1]),
        (["Split_3:1:b", "Conv_80:0:a"], [1, 0]),
        (["Split_3:1", "Conv_80:0"], [1, 0]),
        (["b", "a"], [1, 0]),
        (["Cast_1219:0:b", "Cast_1220:0:a"], [1, 0]),  # as real OMs have them
    ],
)
def test_outputs_are_found_by_name_in_any_order(om: list[str], places: list[int]) -> None:
    assert matched(om, outputs(("Conv_80", 0, "a"), ("Split_3", 1, "b"))) == places


def test_names_with_colons_are_not_taken_for_others() -> None:
    onnx = outputs(("m", 0, "x:y"), ("n", 0, "y"))
    assert matched(["Cast_1:0:x:y", "Cast_2:0:y"], onnx) == [0, 1]
    assert matched(["n:0:y", "m:0:x:y"], onnx) == [1, 0]


@pytest.mark.parametrize(
    "om",
    [
        ["Conv_80:0:a"],
        ["Conv_80:0:a", "Neg_81:0:c"],
        ["Conv_80:1:z", "Split_3:1:b"],
        ["Conv_80:0:a", "Cast_1:0:a"],
        ["Conv_80:0:a", "Split_3:1:b", "Neg_81:0:c"],
        ["output_0", "output_1"],
        [],
    ],
)
def test_others_are_refused_with_both_lists(om: list[str]) -> None:
    with pytest.raises(StageError, match=r"Conv_80:0:a, Split_3:1:b") as raised:
        matched(om, outputs(("Conv_80", 0, "a"), ("Split_3", 1, "b")))
    assert f"outputs are {', '.join(om)}," in raised.value.message
