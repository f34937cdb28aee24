from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import parser

from ascendflow.graph.choices import Chooser, choosers_before

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x) => (int32[2] c, float[2, 2] top, int64[2, 2] at, bool[2, 3] m)
<int64[1] k = {2}, float limit = {0.5}>
{
  [neg] y = Neg (x)
  [pick] i = ArgMax <axis = 1, keepdims = 0> (y)
  [cast] c = Cast <to = 6> (i)
  [best] top, at = TopK (y, k)
  [over] m = Greater (top_wide, limit)
  [least] j = ArgMin (y)
  [wide] top_wide = Gather (y, j)
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    model = parser.parse_model(MODEL)
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_the_choice_behind_an_output_is_found_through_what_is_between(path: Path) -> None:
    found = choosers_before(path, ["c", "at", "m"])

    assert found == {
        "c": [Chooser("pick", "ArgMax", "y", "i", 1, keeps_axis=False)],
        "at": [Chooser("best", "TopK", "y", "at", -1, keeps_axis=True)],
        "m": [Chooser("least", "ArgMin", "y", "j", 0, keeps_axis=True)],
    }


def test_the_values_of_topk_are_no_choice_and_an_unknown_output_has_none(
    path: Path,
) -> None:
    assert choosers_before(path, ["top", "nothing"]) == {"top": [], "nothing": []}
