from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from ascendflow.errors import NotModelledError, StageError
from tests.emulation import FP32, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

Feeds = dict[str, np.ndarray]
X: Feeds = {"x": np.arange(24, dtype=F32).reshape(2, 3, 4)}
INDICES = np.array([[[2], [0]], [[1], [1]]], np.int64)  # two of each of two batches


def gathered(batches: int = 1, *, fed: bool = False) -> onnx.ModelProto:
    made = node("GatherND", ["x", "i"], ["y"], name="gather", batch_dims=batches)
    indices: Any = ("i", INDICES.shape, TensorProto.INT64)
    inputs: list[Any] = [("x", [2, 3, 4]), *([indices] if fed else [])]
    shape = ["a", "b", "c"][: 3 if batches else 4]
    constants = {} if fed else {"i": INDICES if batches else INDICES % 2}
    return model(
        [made], inputs, [("y", shape if batches else ["a", "b", "c", "d"])], constants, 15
    )


def test_up_to_6_0_the_batch_is_forgotten() -> None:
    """Without batches, index i names row i of the first axis, whole."""
    two = np.array([[[1], [0]], [[1], [1]]], np.int64)  # indices that are rows of it too
    proto = gathered(fed=True)
    feeds: Feeds = {**X, "i": two}

    y = emulate(proto, feeds, **FP32, cann="6.0")["y"]

    expected = np.stack([[X["x"][row[0]] for row in batch] for batch in two])
    np.testing.assert_array_equal(y, expected)
    assert y.shape == (2, 2, 3, 4)
    assert run(proto, feeds)["y"].shape == (2, 2, 4)


@pytest.mark.parametrize(
    ("cann", "consequence"), [("6.0", "unknown"), ("8.1", "unknown"), ("8.5", "rejected")]
)
def test_what_comes_of_it_depends_on_the_version(
    cann: str, consequence: str, tmp_path: Path
) -> None:
    found = [("gather", "gathernd-batch", consequence)]

    assert linted(gathered(), cann=cann) == found
    assert linted(gathered(0), cann=cann) == []
    refusal = StageError if consequence == "rejected" else NotModelledError
    with pytest.raises(refusal, match=r"'gather' \(GatherND\): batch_dims is 1"):
        convert(gathered(), tmp_path, cann=cann)  # index 2 is outside of the 2 batches


def test_where_it_is_dropped_lint_says_so() -> None:
    assert linted(gathered(fed=True), cann="6.0") == [
        ("gather", "gathernd-batch", "silent")
    ]


@pytest.mark.parametrize(
    ("numbers", "consequence"),
    [
        pytest.param([[[1], [-2]], [[0], [-1]]], "silent", id="rows-that-are-there"),
        pytest.param([[[1], [0]], [[2], [0]]], "unknown", id="one-too-far"),
        pytest.param([[[1], [0]], [[-3], [0]]], "unknown", id="one-too-far-back"),
        pytest.param([[[1, 2], [0, 3]]] * 2, "unknown", id="second-axis-too-far"),
        pytest.param([[[1, 2], [0, -3]]] * 2, "silent", id="second-axis"),
    ],
)
def test_without_batches_indices_are_of_the_first_axes(
    numbers: list[Any], consequence: str
) -> None:
    """The data is 2 x 3 x 4; with batches, indices are of its axes of 3 and 4."""
    constants = {"i": np.array(numbers, np.int64)}
    made = node("GatherND", ["x", "i"], ["y"], name="gather", batch_dims=1)
    shape = ["a", "b", "c"][: 4 - constants["i"].shape[-1]]
    proto = model([made], [("x", [2, 3, 4])], [("y", shape)], constants, 15)

    assert linted(proto, cann="6.0") == [("gather", "gathernd-batch", consequence)]


@pytest.mark.parametrize("fed", [False, True], ids=["constant", "computed"])
@pytest.mark.parametrize("cann", ["6.0", "8.5"])
def test_indices_that_name_the_batch_convert_and_agree(cann: str, fed: bool) -> None:
    proto = gathered(fed=fed)
    feeds: Feeds = {**X, "i": INDICES} if fed else X

    edited = cured(proto, "gathernd-flatten")

    expected = run(proto, feeds)["y"]
    np.testing.assert_array_equal(run(edited, feeds)["y"], expected)
    np.testing.assert_array_equal(emulate(edited, feeds, **FP32, cann=cann)["y"], expected)
