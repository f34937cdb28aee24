"""Which shapes gears stand for is read off the examples of ATC's own documents."""

from __future__ import annotations

from typing import Any

import pytest

from ascendflow.manifest.convert import Convert
from ascendflow.manifest.open_sizes import admitted_shapes, open_sizes

INPUTS = {"a": (1, 3, 4, 8), "b": (1, 4)}


def block(**options: Any) -> Convert:
    given = {"toolkit": "/usr/local/Ascend/latest", "python": "/usr/bin/python3", **options}
    return Convert(backend=("cann",), cann="8.1", soc_version="Ascend310P3", **given)


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        pytest.param({}, [], id="fixed"),
        pytest.param({"input_shape": {"a": [1, 3, 4, 8], "b": [1, 4]}}, [], id="written"),
        pytest.param(
            {
                "input_shape": {"a": [-1, 3, 4, 8], "b": [-1, 4]},
                "dynamic_batch_size": [1, 2],
            },
            [{"a": [1, 3, 4, 8], "b": [1, 4]}, {"a": [2, 3, 4, 8], "b": [2, 4]}],
            id="batches",
        ),
        pytest.param(
            {
                "input_shape": {"a": [1, 3, -1, -1], "b": [1, 4]},
                "dynamic_image_size": [[4, 8], [16, 32]],
            },
            [{"a": [1, 3, 4, 8], "b": [1, 4]}, {"a": [1, 3, 16, 32], "b": [1, 4]}],
            id="images",
        ),
        pytest.param(
            {
                "input_shape": {"a": [-1, 3, 4, -1], "b": [1, -1]},
                "dynamic_dims": [[1, 8, 4], [2, 9, 5]],
            },
            [{"a": [1, 3, 4, 8], "b": [1, 4]}, {"a": [2, 3, 4, 9], "b": [1, 5]}],
            id="dims",
        ),
        pytest.param(
            {
                "input_shape": {"a": ["1~2", 3, 4, -1], "b": [1, 4]},
                "dynamic_shape": True,
            },
            [{"a": [[1, 2], 3, 4, [1, None]], "b": [1, 4]}],
            id="ranges",
        ),
    ],
)
def test_shapes_that_the_model_is_built_for(
    options: dict[str, Any], shapes: list[Any]
) -> None:
    assert admitted_shapes(block(**options), INPUTS) == shapes


def test_open_sizes_are_named_by_their_place() -> None:
    shape = {"a": [-1, 3, "1~4", 8], "b": [1, 4]}

    assert open_sizes(block(input_shape=shape, dynamic_shape=True)) == {"a": [0, 2]}
    assert open_sizes(block()) == {}
